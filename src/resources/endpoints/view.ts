// An endpoint as an answer shows it. [contract 5.1]
import type { Static } from 'typebox'
import type { Endpoint } from '../../contract/endpoints.ts'
import { isoTime } from '../../platform/clock.ts'
import type { EndpointRow } from './store.ts'

/** What the device reported comes from `status`; what it never reported is left out, except `networks`. */
export const endpointView = (row: EndpointRow, roomName: string | undefined): Static<typeof Endpoint> => ({
  networks: [],
  ...JSON.parse(row.status),
  id: row.id,
  serial: row.serial,
  ...(row.pairing_serial !== null && { pairingSerial: row.pairing_serial }),
  model: row.model,
  connected: row.connected === 1,
  ...(row.connection_time !== null && { connectionTime: isoTime(row.connection_time) }),
  enrolmentTime: isoTime(row.enrolment_time),
  ...(row.room_id !== null && { roomId: row.room_id }),
  ...(row.room_id !== null && roomName !== undefined && { roomName }),
  ...(row.profile_id !== null && { profileId: row.profile_id }),
})

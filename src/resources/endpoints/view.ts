// An endpoint as an answer shows it, in full and in a list. [contract 5.1] [contract 4.endpointsBasicList]
import type { Static } from 'typebox'
import type { BasicEndpoint, Endpoint } from '../../contract/endpoints.ts'
import { isoTime } from '../../platform/clock.ts'
import { ref } from '../audit/change.ts'
import type { EndpointRow, ListedEndpoint } from './store.ts'

/** What the device reported comes from `status`; what it never reported is left out, except `networks`. */
export const endpointView = (row: EndpointRow, roomName: string | undefined): Static<typeof Endpoint> => ({
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
  ...reported(JSON.parse(row.status)),
})

/** The list of networks is always there, and last: it is long. [contract 5.1] */
const reported = ({ networks = [], ...status }) => ({ ...status, networks })

type Basic = Static<typeof BasicEndpoint>

/** There may be ten thousand of these in an answer: each is made in one go, and reports are not parsed in full. */
export function basicEndpointView(row: ListedEndpoint): Basic {
  const view: Basic = { id: row.id, serial: row.serial, model: row.model, connected: row.connected === 1 }
  if (row.room_id !== null) view.roomId = row.room_id
  if (row.room_name !== null) view.roomName = row.room_name
  const call = textIn(row.status, inCallStatus)
  if (call !== undefined) view.inCallStatus = call as NonNullable<Basic['inCallStatus']>
  const firmware = textIn(row.status, firmwareVersion)
  if (firmware !== undefined) view.firmwareVersion = firmware
  if (row.pairing_serial !== null) view.pairingSerial = row.pairing_serial
  return view
}

/** Inside a text the quotes would be escaped, so these fit a key only. */
const inCallStatus = /"inCallStatus":("[A-Z]*")/
const firmwareVersion = /"firmwareVersion":("(?:[^"\\]|\\.)*")/

/** A text in the JSON that we wrote ourselves. */
function textIn(json: string, pattern: RegExp): string | undefined {
  const text = pattern.exec(json)?.[1]
  return text === undefined ? undefined : JSON.parse(text)
}

/** How the audit log names one. */
export const endpointRef = ({ id, serial }: Pick<EndpointRow, 'id' | 'serial'>) => ref('endpoint', { id, name: serial })

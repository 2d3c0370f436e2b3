// An endpoint as an answer shows it, in full and in a list. [contract 5.1] [contract 4.endpointsBasicList]
import type { Static } from 'typebox'
import type { BasicEndpoint } from '../../../contract/endpoints.ts'
import { isoTime } from '../../core/clock.ts'
import { auditRef } from '../audit/change.ts'
import type { EndpointRow, ListedEndpoint } from './store.ts'

/** One endpoint as JSON. What the device reported is there as the text that is stored; what it never reported is left out. */
export function endpointText(row: EndpointRow, roomName: string | null): string {
  let text = `{"id":"${row.id}","serial":${JSON.stringify(row.serial)}`
  if (row.pairing_serial !== null) text += `,"pairingSerial":${JSON.stringify(row.pairing_serial)}`
  text += `,"model":${JSON.stringify(row.model)},"connected":${row.connected === 1}`
  if (row.connection_time !== null) text += `,"connectionTime":"${isoTime(row.connection_time)}"`
  text += `,"enrolmentTime":"${isoTime(row.enrolment_time)}"`
  if (row.room_id !== null) text += `,"roomId":${row.room_id}`
  if (row.room_id !== null && roomName !== null) text += `,"roomName":${JSON.stringify(roomName)}`
  if (row.profile_id !== null) text += `,"profileId":${row.profile_id}`
  const fields = row.status.slice(1, -1)
  if (fields !== '') text += `,${fields}`
  // The list of networks is always there. [contract 5.1]
  return row.status.includes(networks) ? `${text}}` : `${text},${networks}[]}`
}

/** Inside a text the quotes would be escaped, so this fits a key only. */
const networks = '"networks":'

type Basic = Static<typeof BasicEndpoint>

/** There may be ten thousand of these in an answer: each is made in one go, and reports are not parsed in full. */
export function basicEndpointView(row: ListedEndpoint): Basic {
  const view: Basic = { id: row.id, serial: row.serial, model: row.model, connected: row.connected === 1 }
  if (row.room_id !== null) view.roomId = row.room_id
  if (row.room_name !== null) view.roomName = row.room_name
  const call = valueIn(row.status, inCallStatus)
  if (call !== undefined) view.inCallStatus = call as NonNullable<Basic['inCallStatus']>
  const firmware = valueIn(row.status, firmwareVersion)
  if (firmware !== undefined) view.firmwareVersion = firmware as string
  if (row.pairing_serial !== null) view.pairingSerial = row.pairing_serial
  const paired = valueIn(row.status, pairedSerials)
  if (paired !== undefined) view.pairedSerials = paired as string[]
  return view
}

/** Inside a text the quotes would be escaped, so these fit a key only. */
const inCallStatus = /"inCallStatus":("[A-Z]*")/
const firmwareVersion = /"firmwareVersion":("(?:[^"\\]|\\.)*")/
const pairedSerials = /"pairedSerials":(\[(?:"(?:[^"\\]|\\.)*",?)*\])/

/** A text, or a list of texts, in the JSON that we wrote ourselves. */
function valueIn(json: string, pattern: RegExp): unknown {
  const text = pattern.exec(json)?.[1]
  return text === undefined ? undefined : JSON.parse(text)
}

/** How the audit log names one. */
export const endpointRef = ({ id, serial }: Pick<EndpointRow, 'id' | 'serial'>) =>
  auditRef('endpoint', { id, name: serial })

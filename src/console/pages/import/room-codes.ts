// The enrolment codes of the rooms of an import, for paper and for a file.
import { importableRow } from '../../../contract/csv.ts'

export interface RoomCode {
  readonly roomId: number
  readonly room: string
  /** Empty if the room has none. */
  readonly location: string
  readonly region: string
  readonly code: string
  /** What the QR code contains. */
  readonly url: string
}

export const codesCsv = (codes: readonly RoomCode[]): string =>
  [
    ['region', 'location', 'room', 'enrolment_code', 'enrolment_url'],
    ...codes.map(({ region, location, room, code, url }) => [region, location, room, code, url]),
  ]
    .map((cells) => importableRow(cells, ','))
    .join('')

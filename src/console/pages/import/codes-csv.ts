// Enrolment codes as CSV.
import { importableRow } from '../../../contract/csv.ts'
import type { RoomCode } from '../../../csv/import-rooms.ts'

export const codesCsv = (codes: readonly RoomCode[]): string =>
  [
    ['region', 'location', 'room', 'enrolment_code', 'enrolment_url'],
    ...codes.map(({ region, location, room, code, url }) => [region, location, room, code, url]),
  ]
    .map((cells) => importableRow(cells, ','))
    .join('')

// Imports a file of rooms, and finds their enrolment codes.
import { mapInParallel } from '../apply/parallel.ts'
import { readOrganisation } from '../apply/read-organisation.ts'
import type { Client } from '../client/client.ts'
import type { ResponseOf } from '../contract/operation.ts'
import type { Operations } from '../contract/operations.ts'
import type { OrganisationDocument } from '../plan/document.ts'
import { documentOf } from '../plan/document-of.ts'
import type { Sheet } from './columns.ts'
import { readCsv } from './read-csv.ts'
import { type RoomCsvColumn, readRooms, roomSheetColumns } from './rooms.ts'
import { type ImportPlan, planImport } from './row-fates.ts'
import { type ImportedRow, isDone } from './run-import.ts'

export interface PlannedRooms {
  readonly sheet: Sheet<RoomCsvColumn>
  readonly plan: ImportPlan
}

/** Throws a `CsvError` if the file cannot be read. Rows that are wrong are in the plan. */
export async function planRooms(
  client: Client,
  bytes: Uint8Array,
  organisation: string,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<PlannedRooms> {
  const sheet = roomSheetColumns.sheet(readCsv(bytes, roomSheetColumns.has))
  const snapshot = await readOrganisation(client, sitesOnly(organisation), { signal })
  const plan = planImport(readRooms(sheet, documentOf(snapshot)), snapshot)
  return { sheet, plan }
}

/** A document for which only sites, rooms and the names of profiles are read. */
export const sitesOnly = (organisation: string): OrganisationDocument => ({
  organisation,
  regions: [],
  locations: [],
  rooms: [],
})

export interface RoomCode {
  /** The row of the file. */
  readonly row: number
  readonly roomId: number
  readonly room: string
  /** Empty if the room has none. */
  readonly location: string
  readonly region: string
  readonly code: string
  /** The content of the QR code. */
  readonly url: string
}

type Room = ResponseOf<Operations['roomsCreate']>

/** The code of a room that was made or changed is in the answer; those of other rooms are read. A code that has expired is left out. */
export async function readRoomCodes(
  client: Client,
  rows: readonly ImportedRow[],
  {
    signal,
    onProgress = () => {},
  }: { readonly signal?: AbortSignal; readonly onProgress?: (done: number) => void } = {},
): Promise<RoomCode[]> {
  const ofRooms = rows.filter(({ kind, id, result }) => kind === 'room' && id !== undefined && isDone(result))
  let done = 0
  const codes = await mapInParallel(ofRooms, async ({ row, id, answers }) => {
    const answered = answers.find((answer): answer is Room => (answer as Partial<Room>).dec !== undefined)
    const room = answered ?? (await client.roomsGet({ id: id as number }, { signal })).body
    onProgress(++done)
    const { dec, enrolmentUrl, location, name } = room
    if (dec === undefined || enrolmentUrl === undefined) return []
    const site = { location: location?.name ?? '', region: location?.region?.name ?? '' }
    return [{ row, roomId: room.id, room: name, ...site, code: dec, url: enrolmentUrl }]
  })
  return codes.flat()
}

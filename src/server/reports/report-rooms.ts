// Finds the rooms of a report: those that the caller sees and that match its filters, and the deleted ones that were there in its window. [contract 16.rooms]

import type { Static, TObject } from 'typebox'
import type { reportPlace } from '../../contract/reports/report-query.ts'
import type { RequestContext } from '../context/request-context.ts'
import { customFieldFilter } from '../fleet/custom-fields.ts'
import type { ReportQuery, ReportRequest } from './report-request.ts'
import { listReportDeletedRooms, listReportRooms } from './store.ts'
import type { Turns } from './turns.ts'

interface Place {
  readonly id: number
  readonly name: string
}

export interface ReportRoom extends Place {
  /** In milliseconds. */
  readonly deletedAt: number | undefined
  readonly location: Place | undefined
  readonly region: Place | undefined
  readonly zone: string
  readonly capacity: number | undefined
  readonly tags: readonly string[]
}

/** Rooms that one statement reads. */
const roomsPerStatement = 250

/** The rooms are in the order of their ids, first those that exist. */
export async function findReportRooms(
  ctx: RequestContext,
  query: ReportQuery,
  request: ReportRequest,
  turns: Turns,
): Promise<readonly ReportRoom[]> {
  const { roomId, regionId, locationId, tag } = query
  const hasFields = customFieldFilter(query.field)
  const found: ReportRoom[] = []
  const add = (rows: readonly RoomRow[]) => {
    for (const row of rows) {
      if (!hasFields(row)) continue
      const room = roomOf(row, request.zone)
      if (tag !== undefined && !room.tags.includes(tag)) continue
      if (room.deletedAt === undefined || room.deletedAt / 1000 > request.windowIn(room.zone).from) found.push(room)
    }
  }
  const limit = roomsPerStatement
  const readAll = async (read: (after: number) => Promise<RoomRow[]>) => {
    if (roomId !== undefined) return add((await read(roomId - 1)).filter(({ id }) => id === roomId))
    for (let after = 0; ; ) {
      const rows = await read(after)
      add(rows)
      await turns.next()
      const last = rows.at(-1)
      if (!last || rows.length < limit) return
      after = last.id
    }
  }
  const since = request.earliest * 1000
  await readAll((after) => listReportRooms(ctx.db, { after, limit }, regionId, locationId))
  await readAll((after) => listReportDeletedRooms(ctx.db, { after, limit, since }, regionId, locationId))
  return found
}

type RoomRow = Awaited<ReturnType<typeof listReportRooms>>[number] & { readonly deleted_at?: number }

const placeOf = (id: number | null, name: string | null): Place | undefined =>
  id === null ? undefined : { id, name: name ?? '' }

const roomOf = (row: RoomRow, zone: string): ReportRoom => ({
  id: row.id,
  name: row.name,
  deletedAt: row.deleted_at,
  location: placeOf(row.location_id, row.location_name),
  region: placeOf(row.region_id, row.region_name),
  zone: row.timezone ?? zone,
  capacity: row.capacity ?? undefined,
  tags: row.tags === '[]' ? [] : JSON.parse(row.tags),
})

/** The columns of a row that say what it is about. */
export type ReportPlace = Static<TObject<typeof reportPlace>>

export const placeOfRoom = (room: ReportRoom): ReportPlace => ({
  room: { id: room.id, name: room.name },
  ...(room.deletedAt !== undefined && { deletedAt: new Date(room.deletedAt).toISOString() }),
  ...(room.location && { location: room.location }),
  ...(room.region && { region: room.region }),
  timezone: room.zone,
  ...(room.capacity !== undefined && { capacity: room.capacity }),
  ...(room.tags.length > 0 && { tags: [...room.tags] }),
})

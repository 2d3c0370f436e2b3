// The fields of a room that people set: their columns, and what requests, answers and the audit log make of them.
import type { Selectable } from 'kysely'
import type { InputOf } from '../../context/handlers.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { AuditedFields } from '../../journal/audit/audited-fields.ts'

export const roomFieldColumns = ['name', 'location_id', 'capacity', 'tags'] as const
export type RoomValues = Pick<Selectable<DatabaseSchema['rooms']>, (typeof roomFieldColumns)[number]>

/** The values after a request. An absent capacity and absent tags keep what is stored; a new room has nothing yet. */
export function roomValues(
  body: InputOf<'roomsUpdate'>['body'],
  location_id: number | null,
  stored: Pick<RoomValues, 'capacity' | 'tags'> = { capacity: null, tags: '[]' },
): RoomValues {
  return {
    name: body.name,
    location_id,
    capacity: body.capacity === undefined ? stored.capacity : body.capacity,
    tags: body.tags === undefined ? stored.tags : JSON.stringify([...new Set(body.tags)]),
  }
}

/** The profile has an operation of its own, and is shown when the room is deleted. */
export const auditedRoom = new AuditedFields(
  (row: RoomValues & { profile_id?: number | null }) => ({
    name: row.name,
    locationId: row.location_id,
    profileId: row.profile_id,
    capacity: row.capacity,
    tags: JSON.parse(row.tags),
  }),
  ['name', 'locationId'],
)

/** Answers show these fields of a room that has them. */
export const optionalRoomFields = ({ capacity, tags }: Pick<RoomValues, 'capacity' | 'tags'>) => ({
  ...(capacity !== null && { capacity }),
  ...(tags !== '[]' && { tags: JSON.parse(tags) as string[] }),
})

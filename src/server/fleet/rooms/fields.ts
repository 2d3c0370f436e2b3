// The fields of a room that people set: their columns, and what requests, answers and the audit log make of them.
import type { Selectable } from 'kysely'
import type { InputOf } from '../../context/handlers.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { AuditedFields } from '../../journal/audit/audited-fields.ts'
import { customFieldsAfter, customFieldsOf } from '../custom-fields.ts'

export const roomFieldColumns = [
  'name',
  'location_id',
  'capacity',
  'tags',
  'floor',
  'contact',
  'external_id',
  'fields',
] as const
export type RoomValues = Pick<Selectable<DatabaseSchema['rooms']>, (typeof roomFieldColumns)[number]>

type KeptValues = Omit<RoomValues, 'name' | 'location_id'>
const emptyRoom: KeptValues = {
  capacity: null,
  tags: '[]',
  floor: null,
  contact: null,
  external_id: null,
  fields: null,
}

/** The values after a request. Its absent keys keep what is stored, except the location; a new room has nothing yet. */
export function roomValues(
  body: InputOf<'roomsUpdate'>['body'],
  location_id: number | null,
  stored: KeptValues = emptyRoom,
): RoomValues {
  return {
    name: body.name,
    location_id,
    capacity: body.capacity === undefined ? stored.capacity : body.capacity,
    tags: body.tags === undefined ? stored.tags : JSON.stringify([...new Set(body.tags)]),
    floor: body.floor === undefined ? stored.floor : body.floor,
    contact: body.contact === undefined ? stored.contact : body.contact,
    external_id: body.externalId === undefined ? stored.external_id : body.externalId,
    fields: customFieldsAfter(body.fields, stored),
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
    floor: row.floor,
    contact: row.contact,
    externalId: row.external_id,
    fields: customFieldsOf(row),
  }),
  ['name', 'locationId'],
)

/** Answers show these fields of a room that has them. */
export const optionalRoomFields = (row: KeptValues) => ({
  ...(row.capacity !== null && { capacity: row.capacity }),
  ...(row.tags !== '[]' && { tags: JSON.parse(row.tags) as string[] }),
  ...(row.floor !== null && { floor: row.floor }),
  ...(row.contact !== null && { contact: row.contact }),
  ...(row.external_id !== null && { externalId: row.external_id }),
  ...(row.fields !== null && { fields: customFieldsOf(row) ?? {} }),
})

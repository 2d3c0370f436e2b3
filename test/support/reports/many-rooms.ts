// Writes an organisation of many rooms with rollups of many days directly into the database, for tests of large reports.
import type { Insertable } from 'kysely'
import type { DatabaseSchema } from '../../../src/server/db/schema/schema.ts'
import {
  emptyDay,
  encodeQuarters,
  packPeople,
  quartersPerDay,
} from '../../../src/server/sensors/rollups/quarter-values.ts'
import type { Harness, TestOrg } from '../harness.ts'

const firstHour = 7
const lastHour = 17
/** Statements of SQLite have a limited number of values. */
const rowsPerInsert = 500

/** Rooms in locations of ten, each with people and air of every day from the first on. Days are counted in UTC since 1970. */
export async function putManyRooms(
  harness: Harness,
  org: TestOrg,
  { rooms, firstDay, days }: { readonly rooms: number; readonly firstDay: number; readonly days: number },
): Promise<void> {
  const key = org.org.key
  const put = async <T extends 'rooms' | 'locations' | 'regions' | 'room_days'>(
    table: T,
    rows: readonly Insertable<DatabaseSchema[T]>[],
  ) => {
    for (let at = 0; at < rows.length; at += rowsPerInsert) {
      const some = rows.slice(at, at + rowsPerInsert)
      await harness.services.db.systemTransaction(({ kysely }) =>
        kysely
          .insertInto(table)
          .values(some as never)
          .execute(),
      )
    }
  }
  const locations = Math.ceil(rooms / 10)
  const zones = ['Europe/Oslo', 'Europe/London', 'America/New_York', null]
  await put('regions', [{ org: key, id: 1, version: 1, name: 'Europe' }])
  await put(
    'locations',
    Array.from({ length: locations }, (_, i) => ({
      ...{ org: key, id: i + 1, version: 1, name: `Location ${i + 1}`, region_id: 1 },
      ...{ timezone: zones[i % zones.length] ?? null, change_window: null },
    })),
  )
  await put(
    'rooms',
    Array.from({ length: rooms }, (_, i) => ({
      ...{ org: key, id: i + 1, version: 1, name: `Room ${i + 1}`, location_id: Math.floor(i / 10) + 1 },
      ...{ profile_id: null, dec_sealed: Buffer.from([0]), dec_used_at: null, dec_timeout: 0, capacity: 2 + (i % 12) },
    })),
  )
  const shapes = Array.from({ length: 50 }, (_, shape) => dayValues(shape))
  for (let day = firstDay; day < firstDay + days; day++) {
    await put(
      'room_days',
      Array.from({ length: rooms }, (_, i) => ({
        ...{ org: key, room: i + 1, day },
        ...(shapes[(i * 7 + day * 3) % shapes.length] as ReturnType<typeof dayValues>),
      })),
    )
  }
}

/** Every quarter is measured, and some of the working hours are used. */
function dayValues(shape: number) {
  const [people, co2, humidity, temp, voc] = [emptyDay(), emptyDay(), emptyDay(), emptyDay(), emptyDay()]
  for (let quarter = 0; quarter < quartersPerDay; quarter++) {
    const hour = Math.floor(quarter / 4)
    const isUsed = hour >= firstHour && hour < lastHour && (quarter * 13 + shape * 5) % 7 < 3
    people[quarter] = packPeople(isUsed ? 100 + ((quarter * shape) % 900) : 0, false)
    co2[quarter] = 420 + (isUsed ? 500 + ((quarter * 31 + shape * 17) % 500) : 0)
    humidity[quarter] = 300 + ((quarter + shape) % 200)
    temp[quarter] = 200 + ((quarter * 3 + shape) % 90)
    voc[quarter] = 100 + ((quarter * 7 + shape) % 400)
  }
  return {
    people: encodeQuarters(people, 'people'),
    co2: encodeQuarters(co2, 'co2'),
    humidity: encodeQuarters(humidity, 'humidity'),
    temp: encodeQuarters(temp, 'temp'),
    voc: encodeQuarters(voc, 'voc'),
    voc_index: null,
  }
}

// Writes the devices of many rooms, with connections of many days, directly into the database, for tests of large reports.
import type { Insertable } from 'kysely'
import { dayMs, minuteMs } from '../../../src/contract/durations.ts'
import type { DatabaseSchema } from '../../../src/server/db/schema/schema.ts'
import { putEndpoints } from '../database/endpoint-rows.ts'
import type { Harness, TestOrg } from '../harness.ts'

const devicesPerRoomCount = 3
/** Each so many devices one loses its connection often. */
const oneInDevicesCount = 50
const flapsPerDayCount = 20
/** Statements of SQLite have a limited number of values. */
const rowsPerInsert = 1000

/**
 * A bar, a controller and a sensor in each room. Most lose their connection once a day, and some often. All locations have a change
 * window, and all rooms are silenced at weekends.
 */
export async function putManyDevices(
  harness: Harness,
  org: TestOrg,
  { rooms, firstDay, days }: { readonly rooms: number; readonly firstDay: number; readonly days: number },
): Promise<void> {
  const start = firstDay * dayMs
  const models = ['NF19B1', 'NF19A1', 'AQ-2']
  const rows = await putEndpoints(
    harness,
    org,
    Array.from({ length: rooms * devicesPerRoomCount }, (_, i) => ({
      room_id: Math.floor(i / devicesPerRoomCount) + 1,
      model: models[i % devicesPerRoomCount] as string,
      connection_time: start + days * dayMs,
    })),
  )
  const spans = rows.flatMap(({ number }, i) =>
    spansOfDevice(number, { start, days, perDay: i % oneInDevicesCount === 0 ? flapsPerDayCount : 1 }),
  )
  await putSpans(harness, org, spans)
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    const nights = JSON.stringify({ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '22:00', to: '05:00' })
    await kysely.updateTable('locations').set({ change_window: nights }).where('org', '=', org.org.key).execute()
    const weekends = JSON.stringify({ days: ['sat', 'sun'], from: '00:00', to: '24:00' })
    const author = { author_type: 'KEY' as const, author_id: '1', author_name: 'Key' }
    const place = { place_type: 'all' as const, place_id: '', since: start, until: null, rules: null, reason: 'Closed' }
    await kysely
      .insertInto('silences')
      .values({ org: org.org.key, id: 1, version: 1, ...place, weekly: weekends, ...author })
      .execute()
  })
}

/** A room with one bar, which loses its connection very often. */
export async function putFlappingRoom(
  harness: Harness,
  org: TestOrg,
  { firstDay, days, flapsPerDay }: Readonly<Record<'firstDay' | 'days' | 'flapsPerDay', number>>,
): Promise<number> {
  const { body: room } = await org.call('POST', '/rooms', { body: { name: 'Flapping' } })
  const start = firstDay * dayMs
  const [bar] = await putEndpoints(harness, org, [
    { room_id: room.id, model: 'NF19B1', connection_time: start + days * dayMs },
  ])
  if (!bar) throw new Error('no bar')
  await putSpans(harness, org, spansOfDevice(bar.number, { start, days, perDay: flapsPerDay }))
  return room.id
}

async function putSpans(harness: Harness, org: TestOrg, spans: readonly Span[]): Promise<void> {
  for (let at = 0; at < spans.length; at += rowsPerInsert) {
    const some = spans.slice(at, at + rowsPerInsert).map((span) => ({ ...span, org: org.org.key }))
    await harness.services.db.systemTransaction(({ kysely }) =>
      kysely.insertInto('connection_spans').values(some).execute(),
    )
  }
}

type Span = Omit<Insertable<DatabaseSchema['connection_spans']>, 'org'>

function spansOfDevice(
  endpoint: number,
  { start, days, perDay }: Readonly<Record<'start' | 'days' | 'perDay', number>>,
): Span[] {
  const lengthMs = dayMs / perDay
  return Array.from({ length: days * perDay }, (_, i) => {
    const since = start + i * lengthMs + (endpoint % 60) * minuteMs
    const until = since + lengthMs - Math.min(((endpoint + i) % 9) * minuteMs, lengthMs / 2) - 1
    return {
      endpoint,
      since,
      until,
      why: 'LOST' as const,
      unknown_until: null,
      rested: 0,
      overslept_at: null,
      via: null,
      source_id: null,
    }
  })
}

// Makes rooms of several kinds, lives through a day with them, and checks how each reboot ended.
import { expect } from 'vitest'
import type { RequestContext } from '../../../src/server/context/request-context.ts'
import type { Services } from '../../../src/server/context/services.ts'
import { locationsCreate } from '../../../src/server/fleet/locations/rules.ts'
import { roomsCreate } from '../../../src/server/fleet/rooms/rules.ts'
import type { SampleIntake } from '../../../src/server/sensors/ingest/intake.ts'
import { type DailyHours, DayDevice, DayRoom } from './day-room.ts'
import { openQuietService } from './quiet-service.ts'
import { RoomDays } from './room-days.ts'
import { newRowDevices } from './row-device.ts'

const days: ('mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun')[] = [
  'mon',
  'tue',
  'wed',
  'thu',
  'fri',
  'sat',
  'sun',
]

/** Locations by their window: none, at night, and at noon in a time zone that is 5.5 hours ahead. */
const places: readonly { timezone: string; from?: string; to?: string; hours?: DailyHours }[] = [
  { timezone: 'UTC' },
  { timezone: 'UTC', from: '19:00', to: '06:00', hours: { from: 19 * 60, to: 6 * 60 } },
  { timezone: 'Asia/Kolkata', from: '15:00', to: '19:00', hours: { from: 9.5 * 60, to: 13.5 * 60 } },
]

/** A bar, a bar that a pad is paired with, a pad alone, and a bar that does not check whether it is in use. */
const kinds = [
  [{ model: 'NF19B1' }],
  [{ model: 'NF19B1' }, { model: 'NF19A1', hasPeopleSensor: false }],
  [{ model: 'NF19A1', hasPeopleSensor: false }],
  [{ model: 'NF19B1', checks: false }],
]

/** One day of this many rooms; each seed is another day. Returns how often the things happened that the test is about. */
export async function liveRoomDays(roomCount: number, seed: number) {
  await using stack = new AsyncDisposableStack()
  const start = Date.UTC(2026, 4, 4 + (seed % 5), 5)
  const { intake, ...service } = await openQuietService(stack, start)
  const { services, ctx } = service
  const rooms = await newDayRooms(services, ctx, intake, { roomCount, seed, start })
  const story = new RoomDays(service, rooms, start)
  await story.live()
  const { asked, restarts, late } = story.counts
  expect(story.problems).toEqual([])
  const { SUCCEEDED = 0, EXPIRED = 0, SKIPPED = 0, ...open } = await countEnds(services, ctx)
  expect(open).toEqual({})
  expect(SUCCEEDED).toBe(restarts - late)
  expect(SUCCEEDED + EXPIRED + SKIPPED).toBe(asked)
  return { ...story.counts, expired: EXPIRED, skipped: SKIPPED }
}

async function newDayRooms(
  services: Services,
  ctx: RequestContext,
  intake: SampleIntake,
  { roomCount, seed, start }: { roomCount: number; seed: number; start: number },
): Promise<DayRoom[]> {
  const locationIds: number[] = []
  for (const { timezone, from, to } of places) {
    const changeWindow = from && to ? { days, from, to } : null
    locationIds.push((await locationsCreate(ctx, { name: 'Oslo', timezone, changeWindow })).body.id)
  }
  const rooms: DayRoom[] = []
  for (let i = 0; i < roomCount; i++) {
    const place = i % places.length
    const { id } = (await roomsCreate(ctx, { name: `Room ${i}`, locationId: locationIds[place] ?? null })).body
    const kind = kinds[Math.floor(i / places.length) % kinds.length] ?? []
    const leader = `B${seed}-${i}`
    const values = kind.map(({ model }, n) => ({
      model,
      room_id: id,
      serial: n === 0 ? leader : `P${seed}-${i}`,
      pairing_serial: n === 0 ? null : leader,
      enrolment_time: start,
    }))
    const rows = await newRowDevices(services, { org: ctx.org }, intake, values)
    const devices = rows.map((row, n) => new DayDevice(row, seed * 100_000 + i * 10 + n, start, kind[n] ?? {}))
    rooms.push(new DayRoom(id, seed * 100_000 + i, devices, places[place]?.hours))
  }
  return rooms
}

/** Counts the reboots by their last state. */
async function countEnds({ db }: Services, { org }: RequestContext): Promise<Readonly<Record<string, number>>> {
  const rows = await db.system.kysely
    .selectFrom('operations')
    .select((e) => ['state', e.fn.countAll<number>().as('count')])
    .where('org', '=', org.key)
    .where('attempt_of', 'is', null)
    .groupBy('state')
    .execute()
  return Object.fromEntries(rows.map(({ state, count }) => [state, Number(count)]))
}

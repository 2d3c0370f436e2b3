// A fleet whose rooms were used and had air for some weeks: its quarters of an hour are written to the database directly.
import {
  emptyDay,
  encodeQuarters,
  packPeople,
  quartersPerDay,
} from '../../../src/server/sensors/rollups/quarter-values.ts'
import type { Harness, TestOrg } from '../harness.ts'

export interface RoomWithUse {
  readonly name: string
  readonly location: string
  readonly capacity?: number
  /** The part of working hours in which it is used, 0 to 1; undefined if its people are not counted. */
  readonly use?: number
  /** People when it is used. */
  readonly people?: number
  readonly tags?: readonly string[]
  /** The largest carbon dioxide; undefined if the air is not measured. */
  readonly co2?: number
}

interface ReportFleet {
  readonly roomIds: ReadonlyMap<string, number>
  readonly locationIds: ReadonlyMap<string, number>
}

/** How likely a room is used in the hours from 08:00 to 18:00, and on the days from Monday on. */
const byHour = [0.35, 0.8, 1, 0.95, 0.45, 0.9, 1, 0.8, 0.5, 0.2]
const byDay = [0.85, 1, 1, 0.95, 0.6]
const [firstHour, hours] = [8, byHour.length]
const daySeconds = 86_400

/** Numbers from 0 to 1, which are the same for the same seed. */
function numbersFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}

/** Makes regions with their locations, and rooms with values on the clock of UTC. Times are Unix seconds. */
export async function putReportFleet(
  harness: Harness,
  org: TestOrg,
  rooms: readonly RoomWithUse[],
  { regions, from, to }: { regions: Readonly<Record<string, readonly string[]>>; from: number; to: number },
): Promise<ReportFleet> {
  const create = async (path: string, body: object): Promise<number> => {
    const reply = await org.call('POST', path, { body })
    if (reply.status >= 300) throw new Error(reply.text)
    return reply.body.id
  }
  const locationIds = new Map<string, number>()
  for (const [name, locations] of Object.entries(regions)) {
    const regionId = await create('/regions', { name })
    for (const location of locations) {
      locationIds.set(location, await create('/locations', { name: location, regionId, timezone: 'UTC' }))
    }
  }
  const roomIds = new Map<string, number>()
  for (const { name, location, capacity, tags } of rooms) {
    const locationId = locationIds.get(location)
    roomIds.set(
      name,
      await create('/rooms', { name, locationId, ...(capacity && { capacity }), ...(tags && { tags }) }),
    )
  }
  const rows = rooms.flatMap((room, i) => [...daysOf(room, numbersFrom(i + 1), from, to)])
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    // The organisation is older than its values.
    await kysely
      .updateTable('orgs')
      .set({ created_at: from * 1000 })
      .where('key', '=', org.org.key)
      .execute()
    // The service may have written its own row while the rooms were made.
    await kysely
      .insertInto('sample_progress')
      .values({ org: org.org.key, timezone: '', room_days_from: 0 })
      .onConflict((row) => row.column('org').doUpdateSet({ room_days_from: 0 }))
      .execute()
    for (let at = 0; at < rows.length; at += 500) {
      const values = rows.slice(at, at + 500).map(({ name, ...row }) => ({
        ...{ org: org.org.key, room: roomIds.get(name) as number, humidity: null, voc: null, voc_index: null },
        ...row,
      }))
      await kysely.insertInto('room_days').values(values).execute()
    }
  })
  return { roomIds, locationIds }
}

function* daysOf(room: RoomWithUse, random: () => number, from: number, to: number) {
  const { use, co2, people: mean = 3 } = room
  if (use === undefined && co2 === undefined) return
  for (let day = Math.floor(from / daySeconds); day < Math.ceil(to / daySeconds); day++) {
    // 1 January 1970 was a Thursday.
    const likely = byDay[(day + 3) % 7]
    if (likely === undefined) continue
    const [people, air, temp] = [emptyDay(), emptyDay(), emptyDay()]
    let present = 0
    let level = 450
    for (let quarter = firstHour * 4; quarter < (firstHour + hours) * 4 && quarter < quartersPerDay; quarter++) {
      // A meeting begins at a full or half hour.
      if (quarter % 2 === 0) {
        const isUsed =
          random() < Math.min(1, (use ?? 0.4) * 1.45 * likely * (byHour[Math.floor(quarter / 4) - firstHour] ?? 0))
        present = isUsed ? Math.max(1, Math.round(mean * (0.6 + random() * 0.9))) : 0
      }
      level += ((present > 0 ? (co2 ?? 0) : 430) - level) * 0.3
      if (use !== undefined) people[quarter] = packPeople(present * 100, false)
      if (co2 !== undefined) {
        air[quarter] = Math.round(level)
        temp[quarter] = 212 + Math.round((present > 0 ? 8 : 0) + random() * 6)
      }
    }
    yield {
      ...{ name: room.name, day },
      people: encodeQuarters(people, 'people'),
      co2: encodeQuarters(air, 'co2'),
      temp: encodeQuarters(temp, 'temp'),
    }
  }
}

// Fills a database before a server starts on it, or without one: what would take hours over the wire.
import type { DeviceSample } from '../src/contract/device.ts'
import type { Session } from '../src/link/handlers.ts'
import type { Org } from '../src/platform/auth/keyring.ts'
import type { Ground } from '../src/platform/by.ts'
import { systemClock } from '../src/platform/clock.ts'
import { openGround } from '../src/platform/ground.ts'
import type { PlaceOptions } from '../src/platform/options.ts'
import { Horizon } from '../src/resources/sensors/horizon.ts'
import { Intake } from '../src/resources/sensors/intake.ts'
import { Latest } from '../src/resources/sensors/latest.ts'
import { putEndpoints } from '../test/endpoint-rows.ts'

/** On the SQLite database in a folder, or on the PostgreSQL database that is named with it. */
export async function withGround<T>(place: string | PlaceOptions, work: (ground: Ground) => Promise<T>): Promise<T> {
  const settings = {
    clock: systemClock,
    isLocked: false,
    mustExist: true,
    keysChanged: () => {},
    onError: (error: Error) => {
      throw error
    },
  }
  const { ground } = await openGround(typeof place === 'string' ? { dataDir: place } : place, settings)
  try {
    return await work(ground)
  } finally {
    await ground.db.close()
  }
}

const model = 'NF19B1'

/** Fills up to so many endpoints, in the room of those that are enrolled. Gives them as if they were all connected. */
export async function fillEndpoints(ground: Ground, count: number): Promise<Session[]> {
  const { kysely } = ground.db
  const enrolled = await kysely
    .selectFrom('endpoints as e')
    .innerJoin('orgs as o', 'o.key', 'e.org')
    .select(['e.id', 'e.number', 'e.serial', 'e.room_id', 'o.key', 'o.id as org'])
    .execute()
  const [first] = enrolled
  if (!first) throw new Error('enrol a device first')
  const org: Org = { key: first.key, id: first.org }
  const rows = Array.from({ length: count - enrolled.length }, () => ({ room_id: first.room_id, model }))
  const put = await putEndpoints({ ground }, { org }, rows)
  return [...enrolled, ...put].map(({ id, number, serial }) => ({
    device: { org, id, number, serial, model },
    since: 0,
    credential: '',
  }))
}

/** What a Bar measures at that time: no two samples are alike, and every value changes slowly. */
export function sampleOf(endpoint: number, timestamp: number): DeviceSample {
  const wave = (period: number) => (1 + Math.sin((timestamp / period + endpoint) * 2 * Math.PI)) / 2
  return {
    timestamp,
    co2: 400 + Math.round(900 * wave(86_400) * wave(7_000)),
    humidity: 25 + Math.round(300 * wave(40_000)) / 10,
    illumination: Math.round(700 * wave(86_400)),
    people: Math.round(8 * wave(5_000)),
    temp: 19 + Math.round(50 * wave(86_400)) / 10,
    voc: Math.round(1500 * wave(9_000)),
  }
}

/** So many messages are under way before anybody waits: they share commits. */
const together = 500

/** Writes one sample of everybody for each of the times. */
export async function writeSamples(
  ground: Ground,
  sessions: readonly Session[],
  times: Iterable<number>,
): Promise<void> {
  const intake = new Intake(ground, new Latest(ground.db), new Horizon())
  const waiting: ReturnType<Intake['receive']>[] = []
  const written = async () => {
    const refused = (await Promise.all(waiting.splice(0))).find((outcome) => outcome !== undefined)
    if (refused) throw new Error(`a sample was refused: ${JSON.stringify(refused)}`)
  }
  for (const time of times) {
    for (const session of sessions) {
      waiting.push(intake.receive(session, { samples: [sampleOf(session.device.number, time)] }))
    }
    if (waiting.length >= together) await written()
  }
  await written()
}

export function* timesFrom(start: number, end: number, apart: number): Generator<number> {
  for (let time = start; time < end; time += apart) yield time
}

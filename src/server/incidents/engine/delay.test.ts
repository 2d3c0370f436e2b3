// How soon an incident opens among 10,000 devices.
import type { Kysely } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { type Harness, type Reply, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'
import { hourMs, minuteMs, secondMs } from '../../../contract/durations.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'

const deviceCount = 10_000
const [roomCount, devicesPerRoom] = [200, 10]
const maxDelayMs = 2000

let harness: Harness
let org: TestOrg
let rows: Awaited<ReturnType<typeof putEndpoints>>
/** The devices of these rooms are in one location; all others are in no room. */
const rooms: number[] = []
beforeAll(async () => {
  harness = await startHarness({ settleMinutes: 0 })
  org = await harness.newOrg()
  const locationId = (await org.call('POST', '/locations', { body: { name: 'Oslo' } })).body.id
  for (let i = 0; i < roomCount; i++) {
    rooms.push((await org.call('POST', '/rooms', { body: { name: `Room ${i}`, locationId } })).body.id)
  }
  const connected = { connected: 1, connection_time: harness.clock.now() }
  rows = await putEndpoints(
    harness,
    org,
    Array.from({ length: deviceCount }, (_, i) => {
      const room_id = rooms[Math.floor(i / devicesPerRoom)]
      return { ...connected, ...(room_id !== undefined && { room_id }) }
    }),
  )
  harness.clock.advance(6 * minuteMs)
  await until('the first run, which reads everything, has ended', () => findProgress())
})
afterAll(() => harness.close())

const findProgress = () =>
  harness.services.db.system.kysely
    .selectFrom('incident_progress')
    .select('judged_until')
    .where('org', '=', org.org.key)
    .executeTakeFirst()

const write = (work: (on: Kysely<DatabaseSchema>) => Promise<unknown>) =>
  harness.services.db.systemTransaction(async ({ kysely }) => void (await work(kysely)))

/** Waits for the open incident of a rule, and returns it with its delay. */
async function opened(rule: string, dueAt: number, isSo = (_: Reply['body']) => true) {
  const incident = await until(
    `${rule} is open`,
    async () => (await org.call('GET', `/incidents?rule=${rule}`)).body.incidents.find(isSo) as Reply['body'],
    { everyMs: 50, timeoutMs: 20_000 },
  )
  return { incident, delayMs: harness.clock.now() - dueAt }
}

/** The rows say that the devices went offline long enough ago in a second. Returns when they are due. */
async function cut(...ids: string[]): Promise<number> {
  const dueAt = harness.clock.now() + secondMs
  const offline = { node_id: null, connection_time: dueAt - 5 * minuteMs }
  await write((on) => on.updateTable('endpoints').set(offline).where('id', 'in', ids).execute())
  return dueAt
}

test('among 10,000 devices one that is offline long enough is an incident within 2 seconds [contract 10.cause]', async () => {
  const id = rows.at(-1)?.id ?? ''
  const { incident, delayMs } = await opened('device.offline', await cut(id))
  expect(delayMs).toBeLessThan(maxDelayMs)
  expect(incident).toMatchObject({ cause: { id } })
})

test('among 10,000 devices the 2000 of a location that are offline together are one incident within 2 seconds [contract 10.cause]', async () => {
  const dueAt = harness.clock.now() + 2 * secondMs
  await write((on) =>
    on
      .updateTable('endpoints')
      .set({ node_id: null, connection_time: dueAt - 5 * minuteMs })
      .where('org', '=', org.org.key)
      .where('room_id', 'is not', null)
      .execute(),
  )
  const { incident, delayMs } = await opened('device.offline', dueAt, ({ cause }) => cause.level === 'LOCATION')
  expect(delayMs).toBeLessThan(maxDelayMs)
  expect(incident).toMatchObject({ openSubjectCount: roomCount * devicesPerRoom })
})

test('a rule that is checked every minute opens its incident within 2 seconds after its time is over [contract 10.rule]', async () => {
  const [quiet, restarted] = [rows.at(-2), rows.at(-3)]
  // The next run of all rules sees both before they are due.
  const dueAt = Math.floor((harness.clock.now() + minuteMs + 5 * secondMs) / secondMs) * secondMs
  const timestamp = (dueAt - hourMs) / secondMs
  const disconnectedAt = dueAt - 10 * minuteMs
  await write(async (on) => {
    const values = { org: org.org.key, endpoint: quiet?.number ?? 0, timestamp, temp: 210 }
    // A device that connected later has that time to send a sample.
    const connected = { connection_time: dueAt - 2 * hourMs }
    await on
      .updateTable('endpoints')
      .set(connected)
      .where('id', '=', quiet?.id ?? '')
      .execute()
    await on
      .insertInto('samples_latest')
      .values({ ...unmeasured, ...values })
      .execute()
    const operation = { org: org.org.key, endpoint_id: restarted?.id ?? '', type: 'REBOOT' as const }
    const times = { created_at: disconnectedAt - 1, sent_at: disconnectedAt - 1, updated_at: disconnectedAt - 1 }
    await on
      .insertInto('operations')
      .values({
        ...operation,
        ...times,
        id: crypto.randomUUID(),
        state: 'EXPIRED',
        payload: '{}',
        deadline: disconnectedAt + 5 * minuteMs,
        error: null,
      })
      .execute()
    const offline = { node_id: null, connection_time: disconnectedAt }
    await on
      .updateTable('endpoints')
      .set(offline)
      .where('id', '=', restarted?.id ?? '')
      .execute()
  })
  harness.clock.advance(minuteMs)
  const silent = opened('sensor.silent', dueAt)
  const offline = opened('device.offline', dueAt, ({ cause }) => cause.id === restarted?.id)
  expect((await silent).incident).toMatchObject({ openSubjectCount: 1 })
  expect((await silent).delayMs).toBeLessThan(maxDelayMs)
  expect((await offline).delayMs).toBeLessThan(maxDelayMs)
})

const unmeasured = {
  co2: null,
  voc: null,
  humidity: null,
  people: null,
  illumination: null,
  voc_index: null,
  shutter_closed: null,
}

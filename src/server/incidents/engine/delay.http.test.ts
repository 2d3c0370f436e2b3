// How soon an incident opens among 10,000 devices. The clock is fixed: it advances by the pauses between runs and by the CPU time of each run,
// so other programs on the machine delay nothing.
import type { Kysely } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cpuMs } from '../../../../test/support/cpu-time.ts'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { openQuietService, type QuietService } from '../../../../test/support/reboots/quiet-service.ts'
import { hourMs, minuteMs, secondMs } from '../../../contract/durations.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { locationsCreate } from '../../fleet/locations/rules.ts'
import { roomsCreate } from '../../fleet/rooms/rules.ts'
import { findOrg } from '../../journal/orgs/store.ts'
import { incidentsList } from '../rules.ts'

const deviceCount = 10_000
const [roomCount, devicesPerRoom] = [200, 10]
const maxDelayMs = 2000
/** The pause between two runs (phases/tasks.ts). */
const pauseMs = secondMs
/** Runs that a test waits for its incident: far more than the promise allows. */
const maxRuns = 30

const stack = new AsyncDisposableStack()
const { signal } = new AbortController()
let service: QuietService
let rows: Awaited<ReturnType<typeof putEndpoints>>
/** The devices of these rooms are in one location; all others are in no room. */
const rooms: number[] = []
beforeAll(async () => {
  // The row of the node has the real time of its start, after which devices have a while to come back.
  service = await openQuietService(stack, Date.now(), { settleMinutes: 0 })
  const { ctx, clock } = service
  const locationId = (await locationsCreate(ctx, { name: 'Oslo' })).body.id
  for (let i = 0; i < roomCount; i++) {
    rooms.push((await roomsCreate(ctx, { name: `Room ${i}`, locationId })).body.id)
  }
  const connected = { connected: 1, connection_time: clock.now() }
  rows = await putEndpoints(
    service,
    ctx,
    Array.from({ length: deviceCount }, (_, i) => {
      const room_id = rooms[Math.floor(i / devicesPerRoom)]
      return { ...connected, ...(room_id !== undefined && { room_id }) }
    }),
  )
  clock.advance(6 * minuteMs)
  // The first run reads everything.
  await run()
})
afterAll(() => stack.disposeAsync())

/** Runs the engine once, and lets as much time pass as it took. */
async function run(): Promise<void> {
  const { services, ctx, clock, incidents } = service
  const org = await findOrg(services.db.system, { id: ctx.org.id })
  if (!org) throw new Error('the organisation is gone')
  const before = await cpuMs(services.db)
  await incidents.run(services, org, signal)
  clock.advance(Math.ceil((await cpuMs(services.db)) - before))
}

const write = (work: (on: Kysely<DatabaseSchema>) => Promise<unknown>) =>
  service.services.db.systemTransaction(async ({ kysely }) => void (await work(kysely)))

type Incident = Awaited<ReturnType<typeof incidentsList>>['incidents'][number]

const findOpen = async (rule: Incident['rule'], isSo: (incident: Incident) => boolean) =>
  (await incidentsList(service.ctx, { rule })).incidents.find(isSo)

/** Runs the engine as the scheduled task does until the incident of a rule is open, and returns it with its delay. */
async function opened(rule: Incident['rule'], dueAt: number, isSo: (incident: Incident) => boolean = () => true) {
  const { clock } = service
  for (let i = 0; i < maxRuns; i++) {
    const startedAt = clock.now()
    await run()
    const incident = await findOpen(rule, isSo)
    if (incident) {
      expect(startedAt, 'it is not open before its time').toBeGreaterThanOrEqual(dueAt)
      return { incident, delayMs: clock.now() - dueAt }
    }
    clock.advance(pauseMs)
  }
  throw new Error(`no incident of ${rule} after ${maxRuns} runs`)
}

/** The rows say that the devices went offline long enough ago in a second. Returns when they are due. */
async function cut(...ids: string[]): Promise<number> {
  const dueAt = service.clock.now() + secondMs
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
  const dueAt = service.clock.now() + 2 * secondMs
  await write((on) =>
    on
      .updateTable('endpoints')
      .set({ node_id: null, connection_time: dueAt - 5 * minuteMs })
      .where('org', '=', service.ctx.org.key)
      .where('room_id', 'is not', null)
      .execute(),
  )
  const { incident, delayMs } = await opened('device.offline', dueAt, ({ cause }) => cause.level === 'LOCATION')
  expect(delayMs).toBeLessThan(maxDelayMs)
  expect(incident).toMatchObject({ openSubjectCount: roomCount * devicesPerRoom })
})

test('a rule that is checked every minute opens its incident within 2 seconds after its time is over [contract 10.rule]', async () => {
  const { clock, ctx } = service
  const org = ctx.org.key
  const [quiet, restarted] = [rows.at(-2), rows.at(-3)]
  // The next run of all rules sees both long before they are due: however long it takes, an earlier run is allowed by then.
  const dueAt = Math.floor((clock.now() + 1.75 * minuteMs) / secondMs) * secondMs
  const timestamp = (dueAt - hourMs) / secondMs
  const disconnectedAt = dueAt - 10 * minuteMs
  await write(async (on) => {
    const values = { org, endpoint: quiet?.number ?? 0, timestamp, temp: 210 }
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
    const operation = { org, endpoint_id: restarted?.id ?? '', type: 'REBOOT' as const }
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
  clock.advance(minuteMs)
  await run()
  clock.advance(dueAt - clock.now() - 2.5 * secondMs)
  const silent = await opened('sensor.silent', dueAt)
  const offline = await findOpen('device.offline', ({ cause }) => cause.id === restarted?.id)
  expect(silent.incident).toMatchObject({ openSubjectCount: 1 })
  expect(silent.delayMs).toBeLessThan(maxDelayMs)
  expect(offline, 'the other one opened in the same run').toBeDefined()
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

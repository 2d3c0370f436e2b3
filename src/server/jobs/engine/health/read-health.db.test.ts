// Tests how the health of soaking units is read: connections, incidents and locations. [contract 12.states]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putBehindGateway } from '../../../../../test/support/devices/gateway.ts'
import { newDevice, type TestDevice } from '../../../../../test/support/devices/test-device.ts'
import { FindingsWatch } from '../../../../../test/support/findings.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../../test/support/harness.ts'
import { newIncident } from '../../../../../test/support/incidents.ts'
import { until } from '../../../../../test/support/program.ts'
import { minuteMs } from '../../../../contract/durations.ts'
import { readHealth } from './read-health.ts'

let harness: Harness
let now = Date.UTC(2026, 4, 4, 8)
beforeAll(async () => {
  // The engine of jobs would go on with the jobs of these tests, so it has long pauses.
  harness = await startHarness({}, { taskPauseShare: 500 })
})
afterAll(() => harness.close())

type Db = Harness['services']['db']['system']['kysely']
const write = (work: (db: Db) => Promise<unknown>) =>
  harness.services.db.systemTransaction(({ kysely }) => work(kysely as Db))

/** Makes a job on rooms of one location that have one connected device each; all of its units soak. The job is final, so that only the test changes it. */
async function newSoak(rooms: number) {
  now += 24 * 60 * minuteMs
  harness.clock.fix(now)
  const org = await harness.newOrg()
  // The service opens incidents too, and only those of the test count.
  await org.call('PUT', '/incident_rules/device.offline', { body: { enabled: false } })
  const locationId = (await org.call('POST', '/locations', { body: { name: 'Oslo' } })).body.id
  const devices: TestDevice[] = []
  const roomIds: number[] = []
  for (let i = 1; i <= rooms; i++) {
    const roomId = (await org.call('POST', '/rooms', { body: { name: `Room ${i}`, locationId } })).body.id
    roomIds.push(roomId)
    devices.push(await newDevice(harness, org, { roomId }))
  }
  const action = { type: 'CONFIG', config: { nightMode: true } }
  const made = await org.call('POST', '/jobs', { body: { name: 'Night', target: { roomIds }, action } })
  const job = Number(made.body.id)
  harness.clock.advance(minuteMs)
  const beganAt = harness.clock.now()
  const { key } = org.org
  await write(async (db) => {
    await db.updateTable('jobs').set({ state: 'CANCELLED' }).where('org', '=', key).where('id', '=', job).execute()
    const soaking = { state: 'SOAKING', began_at: beganAt } as const
    await db.updateTable('job_units').set(soaking).where('org', '=', key).where('job_id', '=', job).execute()
  })
  const units = (await org.call('GET', `/jobs/${job}/rooms`)).body.rooms as { number: number; roomIds: number[] }[]
  const unitOf = (n: number) => units.find((unit) => unit.roomIds.includes(roomIds[n] as number))?.number
  const read = async (actionType: 'CONFIG' | 'REBOOT' = 'CONFIG') => {
    const soaking = { id: job, actionType, firstBeganAt: beganAt, units: units.map(({ number }) => number) }
    return readHealth(harness.services.db.forOrg(key), soaking, harness.services.reconnects.current)
  }
  const isConnected = async (n: number) =>
    (await org.call('GET', `/endpoints/${devices[n]?.id}`)).body.connected as boolean
  const cut = async (n: number) => {
    await devices[n]?.close()
    await until('it is offline', async () => !(await isConnected(n)))
  }
  const close = () => Promise.all(devices.map((device) => device.close()))
  return { ...org, job, devices, roomIds, unitOf, read, cut, close }
}

test('a unit is healthy with one reconnect, and not with two or with a device that stays away', async () => {
  const f = await newSoak(6)
  expect(await f.read()).toEqual(new Map())
  await f.cut(0)
  const name = `Bar ${f.devices[0]?.serial.slice(-6)}`
  expect(await f.read()).toEqual(new Map([[f.unitOf(0), { state: 'reconnecting', reason: `${name} is offline` }]]))
  harness.clock.advance(5 * minuteMs)
  expect(await f.read()).toEqual(new Map([[f.unitOf(0), { state: 'unhealthy', reason: `${name} is offline` }]]))
  await f.devices[0]?.connect()
  expect(await f.read(), 'one reconnect').toEqual(new Map())
  harness.clock.advance(minuteMs)
  await f.cut(0)
  harness.clock.advance(1000)
  await f.devices[0]?.connect()
  const twice = new Map([[f.unitOf(0), { state: 'unhealthy', reason: `${name} disconnected 2 times` }]])
  expect(await f.read()).toEqual(twice)
  expect(await f.read('REBOOT'), 'one of them is the restart').toEqual(new Map())
  await f.close()
})

test('an incident that opened since on the room makes a unit unhealthy, and half of a location offline does not', async () => {
  const f = await newSoak(4)
  const opened = (openedAt: number, rule: 'storage.low' | 'air.beyond', n: number) =>
    newIncident(harness, f, { rule, severity: 'WARNING', rooms: [f.roomIds[n] as number], since: openedAt, openedAt })
  await opened(harness.clock.now() - 30 * minuteMs, 'storage.low', 0)
  await opened(harness.clock.now(), 'air.beyond', 1)
  expect(await f.read()).toEqual(new Map())
  const id = await opened(harness.clock.now(), 'storage.low', 1)
  const unhealthy = { state: 'unhealthy', reason: `incident ${id} (storage.low) opened` }
  expect(await f.read()).toEqual(new Map([[f.unitOf(1), unhealthy]]))
  await f.cut(2)
  harness.clock.advance(5 * minuteMs)
  expect((await f.read()).get(f.unitOf(2) as number)).toMatchObject({ state: 'unhealthy' })
  await f.cut(3)
  const outage = { state: 'outage', reason: '2 of 4 devices of Oslo are offline' }
  expect((await f.read()).get(f.unitOf(2) as number)).toEqual(outage)
  expect((await f.read()).get(f.unitOf(1) as number), 'storage does not count as an outage').toEqual(unhealthy)
  await f.close()
})

test.for([
  { name: 'were switched off', sleeps: false },
  { name: 'are asleep', sleeps: true },
])(
  'devices that $name are not half of a location that is offline [contract 8.power] [contract 8.state]',
  async ({ sleeps }) => {
    const f = await newSoak(4)
    for (const n of [2, 3]) {
      const device = f.devices[n] as TestDevice
      if (sleeps) {
        await device.publish('status', { sleeps, power: 'STANDBY' })
      } else {
        await device.publish('status', { actions: ['power'], power: 'ON' })
        await f.call('POST', `/endpoints/${device.id}/power`, { body: { on: false } })
        expect(await device.next('operation')).toMatchObject({ type: 'POWER', on: false })
      }
      await f.cut(n)
    }
    await f.cut(0)
    harness.clock.advance(5 * minuteMs)
    expect((await f.read()).get(f.unitOf(0) as number)).toMatchObject({ state: 'unhealthy' })
    // The deadline of the command is over.
    harness.clock.advance(minuteMs)
    await f.devices[2]?.connect()
    if (sleeps) await f.devices[2]?.publish('status', { power: 'ON' })
    await f.cut(2)
    const outage = { state: 'outage', reason: '2 of 3 devices of Oslo are offline' }
    expect((await f.read()).get(f.unitOf(0) as number), 'one has disconnected again since').toEqual(outage)
    await f.close()
  },
)

test('the incident of a gateway that is away is not one of the devices behind it [contract 12.states]', async () => {
  const f = await newSoak(2)
  const rack = (await f.call('POST', '/rooms', { body: { name: 'Rack' } })).body.id
  const gateway = await newDevice(harness, f, { roomId: rack })
  const since = harness.clock.now()
  const endpoints = [gateway.id, f.devices[0]?.id as string]
  const offline = { rule: 'device.offline', severity: 'CRITICAL', causeId: gateway.id, endpoints, since } as const
  await newIncident(harness, f, { ...offline, level: 'GATEWAY' })
  expect(await f.read()).toEqual(new Map())
  await newIncident(harness, f, { ...offline, level: 'LOCATION' })
  expect((await f.read()).get(f.unitOf(0) as number), 'another outage is').toMatchObject({ state: 'unhealthy' })
  await gateway.close()
  await f.close()
})

test('a disconnect that followed the end of the gateway is not counted, as one that a server caused is not [contract 12.states]', async () => {
  const f = await newSoak(1)
  const rack = (await f.call('POST', '/rooms', { body: { name: 'Rack' } })).body.id
  const gateway = await newDevice(harness, f, { roomId: rack })
  const [device] = f.devices as [TestDevice]
  await putBehindGateway(harness, gateway.id, [device.id])
  await gateway.close()
  const isGone = async () => !(await f.call('GET', `/endpoints/${gateway.id}`)).body.connected
  await until('the gateway is offline', isGone)
  await f.cut(0)
  const name = `Bar ${device.serial.slice(-6)}`
  expect(await f.read()).toMatchObject(new Map([[f.unitOf(0), { state: 'reconnecting' }]]))
  await gateway.connect()
  await device.connect()
  const reconnectOnce = async () => {
    // The gateway has settled.
    harness.clock.advance(11 * minuteMs)
    await f.cut(0)
    harness.clock.advance(1000)
    await device.connect()
    return f.read()
  }
  expect(await reconnectOnce(), 'the one that the device caused').toEqual(new Map())
  const twice = new Map([[f.unitOf(0), { state: 'unhealthy', reason: `${name} disconnected 2 times` }]])
  expect(await reconnectOnce()).toEqual(twice)
  await gateway.close()
  await f.close()
})

test('an incident of an endpoint that was moved out of the rooms of its unit counts too', async () => {
  const f = await newSoak(1)
  const other = (await f.call('POST', '/rooms', { body: { name: 'Other' } })).body.id
  await write((db) =>
    db
      .updateTable('endpoints')
      .set({ room_id: other })
      .where('id', '=', f.devices[0]?.id as string)
      .execute(),
  )
  const at = harness.clock.now()
  const endpoints = [f.devices[0]?.id as string]
  const id = await newIncident(harness, f, {
    rule: 'storage.low',
    severity: 'WARNING',
    endpoints,
    since: at,
    openedAt: at,
  })
  expect((await f.read()).get(f.unitOf(0) as number)).toMatchObject({ reason: `incident ${id} (storage.low) opened` })
  await f.close()
})

test('job.stopped opens when a job is stopped, lasts while it is rolled back and ends with it [contract 10.rule]', async () => {
  const f = await newSoak(1)
  const watch = new FindingsWatch(harness, f as TestOrg)
  const set = (state: 'STOPPED' | 'ROLLING_BACK' | 'ROLLED_BACK' | 'RUNNING', reason: string | null) =>
    write((db) =>
      db
        .updateTable('jobs')
        .set({ state, reason, settings: JSON.stringify({ onFailure: 'pause' }) })
        .where('org', '=', f.org.key)
        .where('id', '=', f.job)
        .execute(),
    )
  const run = async (kind: 'quick' | 'full', state: Parameters<typeof set>[0], reason: string | null = null) => {
    await set(state, reason)
    const { matured, ended } = await watch[kind]()
    // A job that is not final would be carried on by the service.
    await write((db) => db.updateTable('jobs').set({ state: 'CANCELLED' }).where('org', '=', f.org.key).execute())
    return { matured: matured.filter((each) => each.startsWith('job')), ended }
  }
  const subject = [`job.stopped ${f.job}`]
  expect(await run('quick', 'ROLLING_BACK')).toEqual({ matured: [], ended: [] })
  expect(await run('quick', 'STOPPED', '1 of 1 room failed.')).toEqual({
    matured: subject,
    ended: [],
  })
  expect(watch.detailOf('job.stopped')).toMatchObject({ job: { name: 'Night', locationId: 1, regionId: null } })
  expect(await run('quick', 'ROLLING_BACK', 'failed')).toEqual({ matured: [], ended: [] })
  expect(await run('full', 'ROLLING_BACK'), 'people have asked for it').toEqual({ matured: [], ended: [] })
  expect(await run('quick', 'ROLLED_BACK')).toEqual({ matured: [], ended: subject })
  expect(await run('full', 'STOPPED', 'failed')).toEqual({ matured: subject, ended: [] })
  expect((await run('full', 'RUNNING')).ended).toEqual(subject)
  await f.close()
})

test('a job that was stopped and rolled back between two checks has an incident too, once [contract 10.rule]', async () => {
  await harness.close()
  harness = await startHarness()
  const f = await newSoak(1)
  const ended = { state: 'ROLLED_BACK', reason: '1 of 1 room failed.' } as const
  await write((db) =>
    db
      .updateTable('jobs')
      .set({ ...ended, ended_at: harness.clock.now() })
      .where('org', '=', f.org.key)
      .where('id', '=', f.job)
      .execute(),
  )
  const read = async () =>
    (await f.call('GET', '/incidents?state=RESOLVED')).body.incidents.filter(
      ({ rule }: { rule: string }) => rule === 'job.stopped',
    )
  await until('it has opened and ended', async () => (await read()).length === 1)
  expect((await new FindingsWatch(harness, f as TestOrg).quick()).matured).toEqual([])
  expect(await read()).toMatchObject([
    { severity: 'WARNING', cause: { level: 'JOB', id: String(f.job) }, occurrences: 1 },
  ])
  await f.close()
})

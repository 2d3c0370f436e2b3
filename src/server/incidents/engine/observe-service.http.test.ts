// The rules about credentials, the certificate and the channels, with real connections. [contract 10.rule]
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { connack, frames, rawMqtt } from '../../../../test/support/devices/raw-mqtt.ts'
import { enrolTestDevice } from '../../../../test/support/devices/test-device.ts'
import { FindingsWatch } from '../../../../test/support/findings.ts'
import { type Harness, hasOneNode, quickTasks, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'
import { dayMs, hourMs } from '../../../contract/durations.ts'
import { CredentialAttempts } from '../../devices/mqtt/limits/credential-attempts.ts'
import { deleteOldAttempts, writeAttempts } from '../credentials/attempts.ts'

let harness: Harness
let org: TestOrg
let watch: FindingsWatch
let now = Date.UTC(2026, 4, 4, 8)
beforeAll(async () => {
  harness = await startHarness({}, quickTasks)
})
afterAll(() => harness.close())
beforeEach(async () => {
  now += dayMs
  harness.clock.fix(now)
  org = await harness.newOrg()
  await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
  watch = new FindingsWatch(harness, org)
})

const enrol = async () => (await enrolTestDevice(harness, org, { roomId: 1 })).answer
const advance = (ms: number) => harness.clock.advance(ms)
const rows = (endpointId: string) =>
  harness.services.db.system.kysely
    .selectFrom('credential_attempts')
    .select(['kind', 'address', 'count'])
    .where('endpoint_id', '=', endpointId)
    .orderBy('address')
    .execute()

async function connect(username: string, password: string, localAddress?: string) {
  const connection = await rawMqtt(harness.mqttPort, localAddress)
  connection.socket.write(frames.connect(username, password))
  await until('an answer', () => connection.received.some(({ type }) => type === connack) || connection.isClosed)
  return connection
}

test('credential.refused: 5 wrong credentials in 10 minutes open, none for an hour ends', async () => {
  const { endpointId, credential } = await enrol()
  for (let i = 0; i < 4; i++) (await connect(endpointId, `wrong ${i}`)).socket.destroy()
  const right = await connect(endpointId, credential)
  await until('the attempts are written', async () => (await rows(endpointId))[0]?.count === 4, { timeoutMs: 15_000 })
  expect((await watch.full()).matured).toEqual([])
  await connect(endpointId, 'wrong again')
  await until('the attempt is written', async () => (await rows(endpointId))[0]?.count === 5, { timeoutMs: 15_000 })
  expect(await rows(endpointId)).toEqual([{ kind: 'refused', address: '127.0.0.1', count: 5 }])
  expect((await watch.full()).matured).toEqual([`credential.refused ${endpointId}`])
  right.socket.destroy()
  advance(hourMs - 1)
  expect((await watch.full()).ended).toEqual([])
  advance(1)
  expect((await watch.full()).ended).toEqual([`credential.refused ${endpointId}`])
})

test('sleepsAtMostHours of an organisation says how long its devices may sleep [contract 8.state]', async () => {
  const limits = { sleepsAtMostHours: 48 }
  const set = await org.call('PUT', '/incident_rules/device.offline', { body: { limits } })
  expect(set.status, set.text).toBe(200)
  const asleepFor = (hours: number) => ({ rest: 'RESTING', connection_time: now - hours * hourMs }) as const
  const [longer, shorter] = await putEndpoints(harness, org, [asleepFor(48), asleepFor(47)])
  const stateOf = async (id = '') => (await org.call('GET', `/endpoints/${id}`)).body.state
  await until('the first has slept for too long', async () => (await stateOf(longer?.id)) === 'OFFLINE')
  expect(await stateOf(shorter?.id)).toBe('ASLEEP')
})

const takenOver = (address: string, count: number) => ({ kind: 'taken over', address, count })

test('6 take-overs from one address are counted, at whichever node the device connects, and open no incident', async () => {
  const { endpointId, credential } = await enrol()
  for (let i = 0; i < 7; i++) await connect(endpointId, credential)
  await expect.poll(() => rows(endpointId), { timeout: 15_000 }).toEqual([takenOver('127.0.0.1', 6)])
  expect((await watch.full()).matured).toEqual([])
})

// In front of several nodes there is a balancer, which has one address.
test.runIf(hasOneNode)('credential.shared: 6 take-overs from 2 addresses open, none for an hour ends', async () => {
  const cloned = await enrol()
  for (let i = 0; i < 7; i++) {
    await connect(cloned.endpointId, cloned.credential, i % 2 === 0 ? '127.0.0.1' : '127.0.0.2')
  }
  await expect
    .poll(() => rows(cloned.endpointId), { timeout: 15_000 })
    .toEqual([takenOver('127.0.0.1', 3), takenOver('127.0.0.2', 3)])
  expect((await watch.full()).matured).toEqual([`credential.shared ${cloned.endpointId}`])
  advance(hourMs - 1)
  expect((await watch.full()).ended).toEqual([])
  advance(1)
  expect((await watch.full()).ended).toEqual([`credential.shared ${cloned.endpointId}`])
})

test('attempts for endpoints that do not exist are not written, and those of one minute are one row', async () => {
  const { endpointId } = await enrol()
  const attempts = new CredentialAttempts(harness.clock)
  for (const id of [randomUUID(), 'admin', undefined, endpointId, endpointId]) {
    attempts.record('refused', id, '192.0.2.1')
  }
  await writeAttempts(harness.services, attempts)
  attempts.record('refused', endpointId, '192.0.2.1')
  await writeAttempts(harness.services, attempts)
  const all = await harness.services.db.system.kysely
    .selectFrom('credential_attempts')
    .select(['endpoint_id', 'count'])
    .where('address', '=', '192.0.2.1')
    .execute()
  expect(all).toEqual([{ endpoint_id: endpointId, count: 3 }])
})

test('the memory for attempts is bounded', () => {
  const attempts = new CredentialAttempts(harness.clock)
  for (let i = 0; i < 5000; i++) attempts.record('refused', randomUUID(), '192.0.2.1')
  expect(attempts.take()).toHaveLength(2000)
  expect(attempts.take()).toEqual([])
})

test('counts are deleted after two days', async () => {
  const { endpointId } = await enrol()
  const attempts = new CredentialAttempts(harness.clock)
  attempts.record('refused', endpointId, '192.0.2.2')
  await writeAttempts(harness.services, attempts)
  advance(2 * dayMs)
  await deleteOldAttempts(harness.services)
  expect(await rows(endpointId)).toHaveLength(1)
  advance(1)
  await deleteOldAttempts(harness.services)
  expect(await rows(endpointId)).toEqual([])
})

test('a finding knows its last attempt, to the millisecond and after the counts were deleted', async () => {
  const { endpointId } = await enrol()
  const attempts = new CredentialAttempts(harness.clock)
  const attempt = async (count: number) => {
    for (let i = 0; i < count; i++) attempts.record('refused', endpointId, '192.0.2.3')
    await writeAttempts(harness.services, attempts)
  }
  await attempt(5)
  expect((await watch.full()).matured).toEqual([`credential.refused ${endpointId}`])
  advance(20_000)
  await attempt(1)
  await watch.full()
  // A person may have resolved the incident in between, within the minute.
  expect(watch.detailOf('credential.refused')).toEqual({ lastAt: now + 20_000 })
  const rule = watch.rules['credential.refused']
  watch.rules = { ...watch.rules, 'credential.refused': { ...rule, clearMs: 5 * dayMs } }
  advance(dayMs)
  await attempt(1)
  await watch.full()
  advance(3 * dayMs)
  await deleteOldAttempts(harness.services)
  expect(await rows(endpointId)).toEqual([])
  advance(2 * dayMs - 1)
  expect((await watch.full()).ended).toEqual([])
  advance(1)
  expect((await watch.full()).ended).toEqual([`credential.refused ${endpointId}`])
})

test('certificate.expiring: under 21 days opens, under 7 days is critical, a renewed one ends', async () => {
  const expiresAt = now + 21 * dayMs
  watch.certificateExpiresAt = expiresAt
  expect((await watch.full()).matured).toEqual([])
  advance(1)
  expect((await watch.full()).matured).toEqual([`certificate.expiring ${org.id}`])
  expect(watch.detailOf('certificate.expiring')).toEqual({ expiresAt })
  advance(14 * dayMs)
  await watch.full()
  expect(watch.detailOf('certificate.expiring')).toEqual({ expiresAt, severity: 'CRITICAL' })
  watch.certificateExpiresAt = expiresAt + 90 * dayMs
  expect((await watch.full()).ended).toEqual([`certificate.expiring ${org.id}`])
})

test('channel.failing: a message waits and nothing was delivered for an hour; it ends with a delivery, and with the channel', async () => {
  const { db } = harness.services
  const write = (work: (on: typeof db.system.kysely) => Promise<unknown>) =>
    db.systemTransaction(async ({ kysely }) => void (await work(kysely)))
  const key = { org: org.org.key, channel_id: 1 }
  await write((on) =>
    on
      .insertInto('channels')
      .values({
        org: org.org.key,
        id: 1,
        version: 1,
        name: 'Slack',
        kind: 'slack',
        // The service itself delivers what an enabled channel has, so this one was disabled by a failure.
        enabled: 0,
        disabled_reason: 'nothing was delivered',
        settings: '{}',
        secrets: Buffer.alloc(0),
        created_at: now,
        delivered_at: null,
        failing_since: null,
        last_error: null,
        heartbeat_at: null,
      })
      .execute(),
  )
  const message = async (attempts: number, next_at: number) => {
    const { number } = await db.systemTransaction(({ kysely }) =>
      kysely
        .insertInto('messages')
        .values({
          org: org.org.key,
          id: randomUUID(),
          type: 'test',
          order_key: 'test',
          incident_id: null,
          data: '{}',
          created_at: harness.clock.now(),
        })
        .returning('number')
        .executeTakeFirstOrThrow(),
    )
    await write((on) =>
      on
        .insertInto('deliveries')
        .values({ ...key, message: number, state: 'WAITING', attempts, next_at })
        .execute(),
    )
  }
  await message(0, now + hourMs)
  advance(hourMs - 1)
  expect((await watch.full()).matured, 'it is not due yet').toEqual([])
  advance(1)
  expect((await watch.full()).matured, 'it was held until now, so it has not waited').toEqual([])
  await write((on) => on.deleteFrom('deliveries').where('org', '=', org.org.key).execute())
  await watch.full()
  await message(1, now + 2 * hourMs)
  advance(hourMs - 1)
  expect((await watch.full()).matured).toEqual([])
  advance(1)
  expect((await watch.full()).matured).toEqual(['channel.failing 1'])
  const delivered_at = harness.clock.now()
  await write((on) => on.updateTable('channels').set({ delivered_at }).where('org', '=', org.org.key).execute())
  expect((await watch.full()).ended, 'others are delivered').toEqual(['channel.failing 1'])
  advance(hourMs)
  expect((await watch.full()).matured).toEqual(['channel.failing 1'])
  await write((on) => on.updateTable('deliveries').set({ state: 'DELIVERED' }).where('org', '=', org.org.key).execute())
  expect((await watch.full()).ended).toEqual(['channel.failing 1'])
  advance(hourMs)
  await message(1, now)
  advance(hourMs)
  expect((await watch.full()).matured).toEqual(['channel.failing 1'])
  await write((on) => on.deleteFrom('deliveries').where('org', '=', org.org.key).execute())
  await watch.full()
  advance(hourMs)
  // A clock that was 40 days ahead has left this one: it was never tried, and should have been sent.
  await message(0, now + 40 * dayMs)
  const ahead = { delivered_at: harness.clock.now() + 39 * dayMs }
  await write((on) => on.updateTable('channels').set(ahead).where('org', '=', org.org.key).execute())
  await watch.full()
  advance(hourMs - 1)
  expect((await watch.full()).matured).toEqual([])
  advance(1)
  expect((await watch.full()).matured, 'it should have been sent').toEqual(['channel.failing 1'])
  const weekend = JSON.stringify({ hours: { days: ['mon'], from: '08:00', to: '09:00' } })
  await write((on) =>
    on
      .updateTable('deliveries')
      .set({ next_at: harness.clock.now() + 6 * dayMs })
      .where('org', '=', org.org.key)
      .execute(),
  )
  await write((on) => on.updateTable('channels').set({ settings: weekend }).where('org', '=', org.org.key).execute())
  expect((await watch.full()).ended, 'the hours of the channel hold it').toEqual(['channel.failing 1'])
  await write((on) => on.updateTable('channels').set({ settings: '{}' }).where('org', '=', org.org.key).execute())
  expect((await watch.full()).matured).toEqual(['channel.failing 1'])
  await write((on) => on.deleteFrom('channels').where('org', '=', org.org.key).execute())
  expect((await watch.full()).ended, 'a deleted channel fails no more').toEqual(['channel.failing 1'])
})

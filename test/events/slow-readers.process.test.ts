// Tests that slow readers of events are disconnected, and that events without places reset all readers. [contract 6.events]
import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { makeClient } from '../../src/client/client.ts'
import { devicePaths } from '../../src/contract/device/protocol.ts'
import { timeLimits } from '../../src/server/core/time-limits.ts'
import { TestDevice } from '../support/devices/test-device.ts'
import { follow } from '../support/event-follower.ts'
import { type Harness, send, startHarness, type TestOrg } from '../support/harness.ts'
import { siteForTest, until } from '../support/program.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

/** Asks for events and then takes nothing. */
function stalled(org: TestOrg): { socket: Socket; state: { isCut: boolean } } {
  const socket = connect(Number(new URL(harness.url).port), '127.0.0.1')
  const state = { isCut: false }
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  socket.on('close', () => {
    state.isCut = true
  })
  socket.pause()
  socket.write(`GET /v1/orgs/${org.id}/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${org.key}\r\n\r\n`)
  return { socket, state }
}

const metric = async (org: TestOrg, name: string) =>
  Number(new RegExp(`^${name} (\\d+)$`, 'm').exec((await harness.call('GET', '/metrics', { key: org.key })).text)?.[1])

/** As if so many devices had connected. */
const happen = (org: TestOrg, count: number) =>
  harness.services.feed
    .forOrg(org.org.key)
    .publish(Array.from({ length: count }, () => ({ type: 'connected' as const, endpointId: randomUUID() })))

test('a reader that takes nothing is cut when what it needs next is no longer kept; another gets every event', async () => {
  // Time stands still: it is not how long it takes nothing that is tested.
  harness.clock.fix(harness.clock.now())
  const org = await harness.newOrg()
  const quick = await follow(org.client)
  const before = await metric(org, 'roomkeeper_event_streams_cut_total')
  const slow = stalled(org)
  await until('both streams', async () => (await metric(org, 'roomkeeper_event_streams')) === 2)
  let made = 0
  await until(
    'the slow one is cut',
    async () => {
      // No faster than the quick one reads: it is not its speed that is tested.
      await until('the quick one', () => quick.received.length === made)
      happen(org, 5000)
      made += 5000
      return (await metric(org, 'roomkeeper_event_streams_cut_total')) === before + 1
    },
    { everyMs: 1, timeoutMs: 60_000 },
  )
  await until('the last event', () => quick.received.length === made)
  const [boot] = (quick.received[0]?.id ?? '').split('-')
  expect(quick.received.every(({ id }, i) => id === `${boot}-${i + 1}`)).toBe(true)
  expect(quick.ended).toBeUndefined()
  expect(await metric(org, 'roomkeeper_event_streams')).toBe(1)
  slow.socket.resume()
  await until('it notices', () => slow.state.isCut)
})

test('a reader that takes nothing for 30 seconds is cut, also when little happens', async () => {
  const org = await harness.newOrg()
  const quick = await follow(org.client)
  const before = await metric(org, 'roomkeeper_event_streams_cut_total')
  stalled(org)
  await until('both streams', async () => (await metric(org, 'roomkeeper_event_streams')) === 2)
  // More than the system takes for it, and less than what is kept.
  const big = { type: 'T', id: '1', target: { type: 'room', id: '1', name: 'x'.repeat(20_000) } }
  for (let i = 1; i <= 350; i++) harness.services.feed.forOrg(org.org.key).publish([{ type: 'structure', change: big }])
  await until('all of them', () => quick.received.length === 350)
  expect(await metric(org, 'roomkeeper_event_streams_cut_total')).toBe(before)
  harness.clock.advance(31_000)
  await until('it is cut', async () => (await metric(org, 'roomkeeper_event_streams_cut_total')) === before + 1)
  expect(quick.ended).toBeUndefined()
})

test('a stalled reader holds up no shutdown', async () => {
  const own = await startHarness()
  const org = await own.newOrg()
  const socket = connect(Number(new URL(own.url).port), '127.0.0.1').on('error', () => {})
  onTestFinished(() => void socket.destroy())
  socket.pause()
  socket.write(`GET /v1/orgs/${org.id}/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${org.key}\r\n\r\n`)
  await until('its stream', () => own.services.feed.forOrg(org.org.key).isFollowed())
  const big = { type: 'T', id: '1', target: { type: 'room', id: '1', name: 'x'.repeat(20_000) } }
  for (let i = 1; i <= 350; i++) own.services.feed.forOrg(org.org.key).publish([{ type: 'structure', change: big }])
  const client = await follow(org.client)
  await org.client.regionsCreate({ body: { name: 'Told' } })
  await client.next('structure', (e) => e.change?.target?.name === 'Told')
  const began = performance.now()
  await own.close()
  expect(performance.now() - began, 'it waits so long for requests').toBeLessThan(timeLimits.requestDrainMs)
})

test('when the database cannot say where something happened, every reader gets a reset, and events go on', async () => {
  const site = await siteForTest()
  const server = await site.serve()
  const admin = makeClient({ baseUrl: server.url, org: server.org, token: server.key })
  const { dec, id } = (await admin.roomsCreate({ body: { name: 'Fjord' } })).body
  const body = { code: dec, serial: 'S1', model: 'NF19B1' }
  const { body: answer } = await send(server.url, 'POST', devicePaths.enrol, { body })
  const device = new TestDevice(
    Number(/:(\d+)/.exec(answer.connect[0].replace('://', ''))?.[1]),
    'S1',
    'NF19B1',
    answer,
  )
  onTestFinished(() => device.close())
  const reader = await follow(admin, { roomId: id, types: 'status' })
  await site.sql('ALTER TABLE locations RENAME TO elsewhere')
  await device.connect({ subscribe: false })
  await reader.next('reset')
  await site.sql('ALTER TABLE elsewhere RENAME TO locations')
  await device.publish('status', { freeSystemStorage: '1000' })
  expect(await reader.next('status')).toMatchObject({ roomIds: [id], endpointId: device.id })
  expect(server.stderr).toContain('places of events not found')
})

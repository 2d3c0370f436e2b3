// The drivers of the program against the real server and the fakes: from a test to a device in its room.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { minuteMs, secondMs } from '../../src/contract/durations.ts'
import { driverTable } from '../../src/gateway/driver-table.ts'
import { pjlinkDriver } from '../../src/gateway/drivers/pjlink/pjlink-driver.ts'
import { FakeCodec } from '../../src/simulator/hardware-fakes/codec/fake-codec.ts'
import { FakeProjector } from '../../src/simulator/hardware-fakes/projector/fake-projector.ts'
import { folderContent, GatewayWorld } from '../support/gateway/gateway-world.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../support/harness.ts'
import { until } from '../support/program.ts'
import { shortPjlinkTimings } from './pjlink/projector-session.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness({}, quickTasks)
  org = await harness.newOrg()
})
afterAll(() => harness.close())

test('a codec: the test shows its certificate and sends no password, then it is in its room and restarts once', async () => {
  const world = await GatewayWorld.start(harness, org, { drivers: driverTable })
  const codec = await FakeCodec.start()
  onTestFinished(() => codec.stop())
  const target = { driver: 'roomos', host: '127.0.0.1', port: codec.port, username: 'admin', secret: 'codec-password' }
  const unknown = (await world.call('POST', '/test', target)).body
  expect(unknown).toMatchObject({ state: 'CHANGED', found: { certificate: { fingerprint: codec.fingerprint } } })
  expect(codec.signIns).toEqual({ right: 0, wrong: 0 })
  const { fingerprint } = unknown.found.certificate
  const found = (await world.call('POST', '/test', { ...target, fingerprint })).body
  expect(found).toMatchObject({ found: { manufacturer: 'Cisco', serial: 'FOC2600R004' } })

  const { body: item } = await world.call('POST', '', { ...target, fingerprint, roomId: world.roomId })
  const { endpointId } = await world.reaches(item.id, 'CONNECTED')
  await until('it is online', async () => (await world.endpoint(endpointId)).connected)
  expect(await world.endpoint(endpointId)).toMatchObject({ kind: 'CODEC', manufacturer: 'Cisco', via: world.id })
  await org.call('POST', `/endpoints/${endpointId}/reboot`)
  await until('it has restarted', async () => {
    const [newest] = (await org.call('GET', `/endpoints/${endpointId}/operations`)).body.operations
    return newest.state === 'SUCCEEDED'
  })
  const boots = codec.requests.filter(({ method }) => method === 'xCommand/SystemUnit/Boot')
  expect(boots).toHaveLength(1)

  codec.changeCertificate()
  codec.dropConnections()
  const before = codec.signIns.right
  const changed = await world.reaches(item.id, 'CHANGED')
  for (const shown of [codec.fingerprint, fingerprint]) expect(changed.reason).toContain(shown)
  expect(codec.signIns).toEqual({ right: before, wrong: 0 })
  await world.call('PUT', `/${item.id}`, { fingerprint: codec.fingerprint })
  await world.reaches(item.id, 'CONNECTED')
  expect([folderContent(world.folder), ...world.running.lines].join('\n')).not.toContain('codec-password')
})

test('a projector and a port: a wrong password is tried once, the right one brings the projector into its room', async () => {
  const world = await GatewayWorld.start(harness, org, { drivers: driverTable })
  const projector = new FakeProjector({ password: 'JBMIAProjectorLink', serial: 'PJ-1' })
  const port = await projector.listen()
  onTestFinished(() => projector.close())
  const target = { driver: 'pjlink', host: '127.0.0.1', port, roomId: world.roomId }
  const { body: item } = await world.call('POST', '', { ...target, secret: 'wrong-password' })
  await world.reaches(item.id, 'REFUSED')
  // Neither another name nor another item is a reason to try it again.
  await world.call('PUT', `/${item.id}`, { name: 'Hall' })
  const { body: check } = await world.call('POST', '', {
    driver: 'reach',
    host: '127.0.0.1',
    port: Number(new URL(harness.url).port),
    options: { check: 'http' },
    roomId: world.roomId,
  })
  await world.reaches(check.id, 'CONNECTED')
  expect((await world.item(item.id)).state).toBe('REFUSED')
  await world.call('PUT', `/${item.id}`, { secret: 'JBMIAProjectorLink' })
  const { endpointId } = await world.reaches(item.id, 'CONNECTED')
  await until('it is online', async () => (await world.endpoint(endpointId)).connected)
  expect(projector.wrongDigests).toBe(1)
})

/** A projector that leaves the network in standby, as its session has learned. */
async function startSleeper(world: GatewayWorld, serial: string) {
  const projector = new FakeProjector({ serial })
  projector.powr = '1'
  const port = await projector.listen()
  onTestFinished(() => projector.close())
  const target = { driver: 'pjlink', host: '127.0.0.1', port, options: { pollSeconds: 5 }, roomId: world.roomId }
  const { id } = (await world.call('POST', '', target)).body
  const { endpointId } = await world.reaches(id, 'CONNECTED')
  const reports = (what: string, isSo: (endpoint: { power?: string; sleeps?: boolean }) => boolean) =>
    until(`it reports ${what}`, async () => isSo(await world.endpoint(endpointId)))
  const leave = async () => {
    await projector.press(false)
    await reports('that it cools down', ({ power }) => power === 'CHANGING')
    await projector.close()
  }
  await leave()
  await world.reaches(id, 'UNREACHABLE')
  projector.powr = '1'
  await projector.listen()
  await reports('that it sleeps, and is on', ({ power, sleeps }) => power === 'ON' && sleeps === true)
  return { projector, endpointId, leave }
}

test('a projector that vanishes while it is on is an incident; one that is switched off sleeps, and so does a codec that a display powers', async () => {
  const pjlink = pjlinkDriver({ ...shortPjlinkTimings, pollUnitMs: 20 })
  const own = await harness.newOrg()
  const world = await GatewayWorld.start(harness, own, { drivers: { ...driverTable, pjlink } })
  const [asleep, gone] = await Promise.all([startSleeper(world, 'PJ-A'), startSleeper(world, 'PJ-B')])
  const codec = await FakeCodec.start({ serial: 'FOC-DISPLAY' })
  onTestFinished(() => codec.stop())
  const { body: item } = await world.call('POST', '', {
    ...{ driver: 'roomos', host: '127.0.0.1', port: codec.port, username: 'admin', secret: 'codec-password' },
    ...{ fingerprint: codec.fingerprint, options: { losesPowerWithDisplay: true }, roomId: world.roomId },
  })
  const { endpointId } = await world.reaches(item.id, 'CONNECTED')
  await until('it is online', async () => (await world.endpoint(endpointId)).connected)

  // Until the service and the gateway have settled after their start, nothing is known of devices that are away.
  harness.clock.advance(20 * minuteMs)
  const stateOf = async (id: string) => (await world.endpoint(id)).state
  await Promise.all([asleep.leave(), gone.projector.close(), codec.stop()])
  await until(
    'two sleep',
    async () => (await stateOf(asleep.endpointId)) === 'ASLEEP' && (await stateOf(endpointId)) === 'ASLEEP',
  )
  await until('one is offline', async () => (await stateOf(gone.endpointId)) === 'OFFLINE')
  harness.clock.advance(5 * minuteMs + 30 * secondMs)
  const [incident, ...more] = await until('an incident', async () => {
    const { incidents } = (await own.call('GET', '/incidents?rule=device.offline')).body
    return incidents.length > 0 && incidents
  })
  expect(more).toEqual([])
  const { subjects } = (await own.call('GET', `/incidents/${incident.id}`)).body
  expect(subjects).toMatchObject([{ id: gone.endpointId }])
})

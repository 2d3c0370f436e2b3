// Packets are dropped on the way, and no connection is closed: devices are offline within 45 s, and back within 15 s after.
import { expect, onTestFinished, test } from 'vitest'
import { keepAliveSeconds } from '../../src/contract/device/protocol.ts'
import { secondMs } from '../../src/contract/durations.ts'
import type { ConnectionTimes } from '../../src/device/reconnect.ts'
import type { DriverTable } from '../../src/gateway/driver-table.ts'
import { driverTable } from '../../src/gateway/driver-table.ts'
import { roomosLimits } from '../../src/gateway/drivers/roomos/limits.ts'
import { makeRoomosDriver } from '../../src/gateway/drivers/roomos/roomos.ts'
import { serverConnection } from '../../src/gateway/gateway.ts'
import { FakeCodec } from '../../src/simulator/hardware-fakes/codec/fake-codec.ts'
import { FakeProjector } from '../../src/simulator/hardware-fakes/projector/fake-projector.ts'
import { countCpuWaits } from '../support/cpu-time.ts'
import { startSnmpd } from '../support/drivers/snmpd.ts'
import { freePort } from '../support/free-port.ts'
import { GatewayWorld } from '../support/gateway/gateway-world.ts'
import { startHarness } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { until } from '../support/program.ts'
import { type Wire, wireTo } from '../support/severable-proxy.ts'

const offlineLimitMs = 45 * secondMs
const backLimitMs = 15 * secondMs
/** The short form has one device, whose driver asks more often. */
const shortDrivers: DriverTable = {
  roomos: makeRoomosDriver({ ...roomosLimits, connectMs: secondMs, openMs: 3 * secondMs, pingMs: secondMs }),
}
const host = '127.0.0.1'
const password = 'password-of-this-test'

interface Peer {
  readonly item: object
  drop(): void
  mend(): void
}

const through = (wire: Wire, item: object): Peer => ({
  item: { host, port: wire.port, ...item },
  drop: () => wire.swallow(),
  mend: () => wire.release(),
})

async function startCodec(): Promise<Peer> {
  const codec = await FakeCodec.start({ password })
  onTestFinished(() => codec.stop())
  const { fingerprint } = codec
  const wire = await wireTo(`tcp://${host}:${codec.port}`)
  return through(wire, { driver: 'roomos', username: 'admin', secret: password, fingerprint })
}

/** A device for each driver. */
async function startPeers(webUrl: string): Promise<Peer[]> {
  const projector = new FakeProjector({ password })
  const projectorWire = await wireTo(`tcp://${host}:${await projector.listen()}`)
  onTestFinished(() => projector.close())
  const agent = await startSnmpd(`rocommunity ${password} ${host}\nsysServices 72\n`)
  onTestFinished(() => agent.stop())
  return [
    await startCodec(),
    through(projectorWire, { driver: 'pjlink', secret: password }),
    // A process that is stopped drops what it is sent.
    {
      item: { host, port: agent.port, driver: 'snmp', secret: password },
      drop: () => agent.freeze(),
      mend: () => agent.thaw(),
    },
    through(await wireTo(webUrl), { driver: 'reach', options: { check: 'http', path: '/livez' } }),
  ]
}

/** A keep-alive of 25 s takes a minute to notice: the short form has the shortest that the server accepts. */
const shortConnection: ConnectionTimes = {
  keepAliveSeconds: keepAliveSeconds.min,
  connectMs: 2 * secondMs,
  longestWaitMs: secondMs,
}

/** A server whose gateway reaches it by wires only: HTTP and MQTT. */
async function startWorld(drivers: DriverTable, connection = serverConnection) {
  const [port, mqttPort] = [await freePort(), await freePort()]
  const httpWire = await wireTo(`http://${host}:${port}`)
  const mqttWire = await wireTo(`mqtt://${host}:${mqttPort}`)
  // The enrolment names every address of the server: none of them leads around the wires.
  const publicMqttUrl = [`mqtt://${host}:${mqttWire.port}`]
  const harness = await startHarness({ port, mqttPort, publicMqttUrl, publicUrl: httpWire.url })
  onTestFinished(() => harness.close())
  const org = await harness.newOrg()
  const world = await GatewayWorld.start({ ...harness, url: httpWire.url }, org, { drivers, connection })
  const countConnected = async () => {
    const { endpoints } = (await org.call('GET', '/endpoints')).body
    return endpoints.filter(({ connected }: { connected: boolean }) => connected).length
  }
  return { world, harness, wires: [mqttWire, httpWire], countConnected }
}

/** Measures how long it takes until a condition holds, without the time in which others use the processors. */
async function timeUntil(what: string, isSo: () => Promise<boolean>): Promise<number> {
  const startedAt = performance.now()
  const cpuWaitMs = countCpuWaits()
  await until(what, isSo, { everyMs: 100, timeoutMs: 120 * secondMs })
  return performance.now() - startedAt - cpuWaitMs()
}

const seconds = (ms: number) => Math.round(ms / 100) / 10

test('devices whose packets are dropped are offline within 45 s, and back within 15 s', async () => {
  const { world, harness, countConnected } = await startWorld(isFullForm ? driverTable : shortDrivers)
  const peers = isFullForm ? await startPeers(harness.url) : [await startCodec()]
  for (const { item } of peers) await world.call('POST', '', { ...item, roomId: world.roomId })
  const all = peers.length + 1
  await until('all are online', async () => (await countConnected()) === all)
  for (const peer of peers) peer.drop()
  const offlineMs = await timeUntil('all devices are offline', async () => (await countConnected()) === 1)
  for (const peer of peers) peer.mend()
  const backMs = await timeUntil('all are back', async () => (await countConnected()) === all)
  if (isFullForm)
    process.stdout.write(`devices: offline after ${seconds(offlineMs)} s, back after ${seconds(backMs)} s\n`)
  expect(offlineMs).toBeLessThan(offlineLimitMs)
  expect(backMs).toBeLessThan(backLimitMs)
})

test('a gateway whose packets are dropped is offline within 45 s, with its devices, and they are back within 15 s', async () => {
  const { world, wires, countConnected } = await startWorld(driverTable, isFullForm ? undefined : shortConnection)
  await world.call('POST', '', { ...(await startCodec()).item, roomId: world.roomId })
  await until('both are online', async () => (await countConnected()) === 2)
  for (const wire of wires) wire.swallow()
  const offlineMs = await timeUntil('both are offline', async () => (await countConnected()) === 0)
  for (const wire of wires) wire.release()
  const backMs = await timeUntil('both are back', async () => (await countConnected()) === 2)
  if (isFullForm)
    process.stdout.write(`gateway: offline after ${seconds(offlineMs)} s, back after ${seconds(backMs)} s\n`)
  expect(offlineMs).toBeLessThan(offlineLimitMs)
  expect(backMs).toBeLessThan(backLimitMs)
})

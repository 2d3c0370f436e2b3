// A stop behind a balancer: not ready first, then requests are drained and devices go one after the other. On SQLite the stop does not wait.
import { PassThrough } from 'node:stream'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '../../src/server/core/clock.ts'
import { timeLimits } from '../../src/server/core/time-limits.ts'
import { DeviceConnections } from '../../src/server/devices/mqtt/device-connections.ts'
import { makeDeviceMetrics } from '../../src/server/devices/mqtt/metrics.ts'
import { countCpuWaits } from '../support/cpu-time.ts'
import { newDevice } from '../support/devices/test-device.ts'
import { engine, startHarness } from '../support/harness.ts'
import { until } from '../support/program.ts'

const deviceCount = 30

const onlyOnPostgres = test.runIf(engine === 'postgres')
const onlyOnSqlite = test.runIf(engine === 'sqlite')

async function startWithDevices(stopDelaySeconds: number) {
  const harness = await startHarness({ stopDelaySeconds })
  onTestFinished(() => harness.close())
  const org = await harness.newOrg()
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  const devices = await Promise.all(Array.from({ length: deviceCount }, () => newDevice(harness, org, { roomId })))
  const endedAt: number[] = []
  for (const { client } of devices) client.once('close', () => endedAt.push(performance.now()))
  return { harness, org, roomId, endedAt }
}

onlyOnSqlite('a server on SQLite has no other node to send devices to, so it stops without the delay', async () => {
  const { harness, endedAt } = await startWithDevices(120)
  const startedAt = performance.now()
  await harness.stop()
  expect(performance.now() - startedAt).toBeLessThan(120_000)
  await until('all devices are disconnected', () => endedAt.length === deviceCount)
})

test('after 45 seconds without its database a server sends its devices elsewhere, and not before', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const harness = await startHarness()
  onTestFinished(() => harness.close())
  const org = await harness.newOrg()
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  const device = await newDevice(harness, org, { roomId })
  onTestFinished(() => device.close())
  let isOpen = true
  device.client.once('close', () => {
    isOpen = false
  })
  const outage = vi.spyOn(harness.services.db.health, 'outageMs', 'get').mockReturnValue(44_999)
  vi.advanceTimersByTime(3_000)
  await device.publish('status', { orientation: 'portrait' })
  expect(isOpen).toBe(true)
  outage.mockReturnValue(45_000)
  vi.advanceTimersByTime(1_000)
  await until('it is disconnected', () => !isOpen)
  outage.mockRestore()
})
onlyOnPostgres(
  'a server that stops is not ready immediately, serves on for the delay, and then disconnects its devices one after the other',
  async () => {
    const { harness, org, roomId, endedAt } = await startWithDevices(2)
    const late = await newDevice(harness, org, { roomId, offline: true })
    const startedAt = performance.now()
    const stopped = harness.stop()
    const ready = await harness.call('GET', '/readyz')
    expect([ready.status, ready.body.code]).toEqual([503, 'UNAVAILABLE'])
    expect((await harness.call('GET', '/livez')).status).toBe(200)
    expect((await org.call('POST', '/rooms', { body: { name: 'Oslo' } })).status, 'requests are still served').toBe(200)
    await late.connect()
    expect(late.client.connected, 'a device may still connect').toBe(true)
    expect(endedAt, 'no device was disconnected yet').toEqual([])
    await stopped
    await until('all devices are disconnected', () => endedAt.length === deviceCount)
    expect(Math.min(...endedAt) - startedAt).toBeGreaterThanOrEqual(1_950)
    // A hundred devices are disconnected in a second.
    expect(Math.max(...endedAt) - Math.min(...endedAt)).toBeGreaterThan(deviceCount * 10 * 0.5)
    expect(harness.logged.filter(({ msg }) => msg === 'device disconnected')).toEqual([])
    await expect(fetch(`${harness.url}/livez`)).rejects.toThrow()
  },
)

test('the time in which devices go is limited, however many they are', async () => {
  const ended: string[] = []
  const sessionsOf = (count: number) =>
    Array.from({ length: count }, (_, i) => {
      const socket = new PassThrough()
      socket.once('close', () => ended.push(`${i}`))
      return socket
    })
  const connections = new DeviceConnections({
    handlers: {} as never,
    clock: systemClock,
    limits: timeLimits,
    log: pino({ level: 'silent' }),
    outageMs: () => 0,
    metrics: makeDeviceMetrics(new Registry()),
  })
  const sockets = sessionsOf(1000)
  for (const socket of sockets) connections.accept(socket, {})
  const startedAt = performance.now()
  const cpuWaitMs = countCpuWaits()
  await connections.release(400)
  const took = performance.now() - startedAt
  expect(took).toBeGreaterThan(300)
  expect(took).toBeLessThan(4000 + cpuWaitMs())
  await until('all have ended', () => ended.length === 1000)
  const late = new PassThrough()
  connections.accept(late, {})
  expect(late.destroyed).toBe(true)
  await connections.close()
})

// A stop behind a balancer: not ready first, then requests are drained and devices go one after the other. On SQLite nobody waits.
import { PassThrough } from 'node:stream'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/server/core/clock.ts'
import { DeviceConnections } from '../../src/server/devices/mqtt/device-connections.ts'
import { makeDeviceMetrics } from '../../src/server/devices/mqtt/metrics.ts'
import { newDevice } from '../support/devices/test-device.ts'
import { engine, startHarness } from '../support/harness.ts'
import { until } from '../support/program.ts'

const deviceCount = 30

test('a server that stops is not ready at once, serves on for the delay, and then lets its devices go one after the other', async () => {
  const harness = await startHarness({ stopDelay: 2 })
  onTestFinished(() => harness.close())
  const org = await harness.newOrg()
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  const devices = await Promise.all(Array.from({ length: deviceCount }, () => newDevice(harness, org, { roomId })))
  const endedAt: number[] = []
  for (const { client } of devices) client.once('close', () => endedAt.push(performance.now()))
  const late = await newDevice(harness, org, { roomId, offline: true })

  const startedAt = performance.now()
  const stopped = harness.stop()
  if (engine === 'sqlite') {
    await stopped
    expect(performance.now() - startedAt).toBeLessThan(2000)
    await until('all devices are disconnected', () => endedAt.length === deviceCount)
    return
  }
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
  // A hundred devices go in a second.
  expect(Math.max(...endedAt) - Math.min(...endedAt)).toBeGreaterThan(deviceCount * 10 * 0.5)
  expect(harness.logged.filter(({ msg }) => msg === 'device disconnected')).toEqual([])
  await expect(fetch(`${harness.url}/livez`)).rejects.toThrow()
})

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
    log: pino({ level: 'silent' }),
    outageMs: () => 0,
    metrics: makeDeviceMetrics(new Registry()),
  })
  const sockets = sessionsOf(1000)
  for (const socket of sockets) connections.accept(socket, {})
  const startedAt = performance.now()
  await connections.release(400)
  const took = performance.now() - startedAt
  expect(took).toBeGreaterThan(300)
  expect(took).toBeLessThan(4000)
  await until('all have ended', () => ended.length === 1000)
  const late = new PassThrough()
  connections.accept(late, {})
  expect(late.destroyed).toBe(true)
  await connections.close()
})

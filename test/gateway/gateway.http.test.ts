// A gateway against the real server: what people put on the list is what happens, whatever the devices do.
import { EventEmitter } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dayMs } from '../../src/contract/durations.ts'
import type { Driver, DriverSession } from '../../src/gateway/driver.ts'
import {
  copyOfFolder,
  deviceIdsIn,
  folderContent,
  GatewayWorld,
  recordIn,
  runGatewayHere,
  writeRecord,
} from '../support/gateway/gateway-world.ts'
import { LineDevice } from '../support/gateway/line-device.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { until } from '../support/program.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
})
afterAll(() => harness.close())

let serials = 0
const newSerial = () => `LINE-${++serials}`

test('a device of the list is enrolled in its room, and is online exactly while its session stands', async () => {
  const world = await GatewayWorld.start(harness, org)
  const device = await LineDevice.start(newSerial())
  const id = await world.add(device, { name: 'Big codec' })
  const { endpointId } = await world.reaches(id, 'CONNECTED')
  await until('it is online', async () => (await world.endpoint(endpointId)).state === 'ONLINE')
  expect(await world.endpoint(endpointId)).toMatchObject({
    name: 'Big codec',
    manufacturer: 'Lines',
    model: 'Line 1',
    firmwareVersion: '1.0',
    roomId: world.roomId,
    via: world.id,
    power: 'ON',
    actions: ['reboot', 'message', 'power'],
  })
  device.tell({ power: 'STANDBY' })
  await until('its power is known', async () => (await world.endpoint(endpointId)).power === 'STANDBY')
  device.unplug()
  await world.reaches(id, 'UNREACHABLE')
  await until('the reason', async () => (await world.item(id)).reason.includes('refuses connections'))
  await until('it is offline', async () => (await world.endpoint(endpointId)).connected === false)
  await device.plugIn()
  await world.reaches(id, 'CONNECTED')
  await until('it is back', async () => (await world.endpoint(endpointId)).connected === true)
  await world.running.stop()
  await until('it ends with the gateway', async () => (await world.endpoint(endpointId)).connected === false)
  await until('the session ends', () => device.sessions === 0)
})

test('a wrong password is tried once: again when it was changed, a person asks or a day has passed, and not after a restart or with another name', async () => {
  const world = await GatewayWorld.start(harness, org)
  const device = await LineDevice.start(newSerial())
  const id = await world.add({ port: device.port, password: 'planted secret' })
  const { reason } = await world.reaches(id, 'REFUSED')
  expect(reason).toContain('refused the password')
  // The driver quotes the device, and the device the password.
  expect(reason).not.toContain('planted secret')
  expect(device.logins).toBe(1)
  await world.restart()
  await until('it has read the list', () => world.running.lines.some((line) => line.includes('REFUSED')))
  expect(device.logins).toBe(1)
  await world.call('POST', `/${id}/retry`)
  await until('it is asked', () => device.logins === 2)
  await world.reaches(id, 'REFUSED')
  await until('it is saved', () => recordIn(world.folder, id).refused?.revision === 2)
  await world.call('PUT', `/${id}`, { name: 'Another name' })
  const other = await LineDevice.start(newSerial())
  // The gateway has then read the list with the other name.
  await world.reaches(await world.add(other), 'CONNECTED')
  await world.reaches(id, 'REFUSED')
  expect(device.logins).toBe(2)
  await world.running.stop()
  const { body: room } = await org.call('POST', '/rooms', { body: { name: 'Skog' } })
  await world.call('PUT', `/${id}`, { name: 'Named while the gateway was away' })
  await world.call('PUT', `/${id}`, { roomId: room.id })
  await world.restart()
  await until('it has read the list', () => world.running.lines.some((line) => line.includes('REFUSED')))
  expect(device.logins).toBe(2)
  await world.running.stop()
  const record = recordIn(world.folder, id)
  const { refused } = record
  expect(refused).toBeDefined()
  // As if a day had passed.
  writeRecord(world.folder, id, { ...record, refused: refused && { ...refused, atMs: refused.atMs - dayMs } })
  await world.restart()
  await until('it is asked once more', () => device.logins === 3)
  await world.reaches(id, 'REFUSED')
  await world.call('PUT', `/${id}`, { secret: device.password })
  await world.reaches(id, 'CONNECTED')
  expect(device.logins).toBe(4)
  const written = [folderContent(world.folder), ...world.running.lines, JSON.stringify(harness.logged)].join('\n')
  for (const secret of ['planted secret', device.password]) expect(written).not.toContain(secret)
})

test('a reboot succeeds when the uptime shows it, and is not known without one; each is done once', async () => {
  const world = await GatewayWorld.start(harness, org)
  const device = await LineDevice.start(newSerial())
  const id = await world.add(device)
  const { endpointId } = await world.reaches(id, 'CONNECTED')
  const outcome = async () => {
    await until('it is online', async () => (await world.endpoint(endpointId)).connected)
    await org.call('POST', `/endpoints/${endpointId}/reboot`)
    return until('the end', async () => {
      const [newest] = (await org.call('GET', `/endpoints/${endpointId}/operations`)).body.operations
      return /SUCCEEDED|FAILED/.test(newest.state) && newest
    })
  }
  expect(await outcome()).toMatchObject({ state: 'SUCCEEDED' })
  expect(device.reboots).toBe(1)
  device.hasUptime = false
  device.restart()
  await until('it has a new session', () => device.logins === 3)
  await until('it has left', async () => device.sessions === 1)
  await world.reaches(id, 'CONNECTED')
  expect(await outcome()).toMatchObject({
    state: 'FAILED',
    error: expect.stringContaining('not known whether it restarted'),
  })
  expect(device.reboots).toBe(2)
})

test('a restart that comes late counts, however long the gateway was away; a device that runs on has not restarted', async () => {
  const world = await GatewayWorld.start(harness, org)
  const device = await LineDevice.start(newSerial())
  device.obeys = false
  const id = await world.add(device)
  const { endpointId } = await world.reaches(id, 'CONNECTED')
  const reboot = async () => {
    await until('it is online', async () => (await world.endpoint(endpointId)).connected)
    await org.call('POST', `/endpoints/${endpointId}/reboot`)
    await until('the device has it', () => device.reboots === 1)
  }
  const newest = async () => (await org.call('GET', `/endpoints/${endpointId}/operations`)).body.operations[0]
  await reboot()
  await until('it is acknowledged', async () => (await newest()).state === 'ACKNOWLEDGED')
  await world.running.stop()
  // As if the gateway had been away for ten minutes.
  const record = recordIn(world.folder, id)
  const started = record.agent?.started?.map((command) => ({ ...command, atMs: command.atMs - 600_000 }))
  expect(started).toHaveLength(1)
  writeRecord(world.folder, id, { ...record, agent: record.agent && { ...record.agent, started } })
  await world.restart({ restartWithinMs: 10_000 })
  await until('it is connected again', async () => (await world.endpoint(endpointId)).connected)
  expect((await newest()).state).toBe('ACKNOWLEDGED')
  device.restart()
  await until('the restart counts', async () => (await newest()).state === 'SUCCEEDED')

  device.reboots = 0
  // An uptime is exact to two seconds: this restart must not be taken for the next one.
  await pause(2_500)
  await reboot()
  await until('it has failed', async () => (await newest()).state === 'FAILED')
  expect(await newest()).toMatchObject({ error: 'The device has not restarted.' })
  expect(device.reboots).toBe(1)
})

test('another serial is CHANGED, a device that is enrolled already is DUPLICATE, and a deleted endpoint is REMOVED', async () => {
  const world = await GatewayWorld.start(harness, org)
  const device = await LineDevice.start(newSerial())
  const id = await world.add(device)
  const { endpointId } = await world.reaches(id, 'CONNECTED')
  const first = device.serial
  device.serial = newSerial()
  device.restart()
  const changed = await world.reaches(id, 'CHANGED')
  for (const serial of [first, device.serial]) expect(changed.reason).toContain(serial)
  await until('it is offline', async () => (await world.endpoint(endpointId)).connected === false)

  await org.call('DELETE', `/endpoints/${endpointId}`)
  await world.reaches(id, 'REMOVED')
  const logins = device.logins
  await world.call('POST', `/${id}/retry`)
  const again = await world.reaches(id, 'CONNECTED')
  expect(again.endpointId).not.toBe(endpointId)
  expect(device.logins).toBe(logins + 1)

  // The endpoint is deleted while its session stands: the device gets UNENROL.
  await until('it is online', async () => (await world.endpoint(again.endpointId)).connected)
  await org.call('DELETE', `/endpoints/${again.endpointId}`)
  await world.reaches(id, 'REMOVED')
  await until('the session ends', () => device.sessions === 0)
  await until('its credential is deleted', () => recordIn(world.folder, id).identity === undefined)
  await world.call('POST', `/${id}/retry`)
  await world.reaches(id, 'CONNECTED')

  const second = await world.add(device)
  expect((await world.reaches(second, 'DUPLICATE')).reason).toContain('enrolled already')
  await world.call('DELETE', `/${id}?unenrol=true`)
  await world.call('POST', `/${second}/retry`)
  await world.reaches(second, 'CONNECTED')
})

test('status goes up at most once a second, and samples once a minute, however often a device speaks', async () => {
  const world = await GatewayWorld.start(harness, org)
  const device = await LineDevice.start(newSerial())
  const { endpointId } = await world.reaches(await world.add(device), 'CONNECTED')
  await until('it is online', async () => (await world.endpoint(endpointId)).connected)
  const received = async (kind: string) => {
    const { text } = await harness.call('GET', '/metrics', { key: false })
    return Number(new RegExp(`messages_received_total\\{kind="${kind}"\\} (\\d+)`).exec(text)?.[1] ?? 0)
  }
  const before = { status: await received('status'), sample: await received('sample') }
  const startedAt = performance.now()
  for (let i = 1; i <= 100; i++) {
    device.tell({ volume: i })
    device.measure({ timestamp: Math.floor(Date.now() / 1000), people: i })
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await until('the last change is known', async () => (await world.endpoint(endpointId)).volume === 100)
  const seconds = (performance.now() - startedAt) / 1000
  const sent = (await received('status')) - before.status
  expect(sent).toBeGreaterThan(0)
  expect(sent).toBeLessThanOrEqual(Math.ceil(seconds) + 1)
  expect((await received('sample')) - before.sample).toBe(1)
})

test('a test says what it found, or why not, and stores nothing', async () => {
  const world = await GatewayWorld.start(harness, org)
  const device = await LineDevice.start(newSerial())
  const tryIt = async (more: object = {}) => {
    const body = {
      driver: 'roomos',
      host: '127.0.0.1',
      port: device.port,
      username: 'roomkeeper',
      secret: device.password,
    }
    return (await world.call('POST', '/test', { ...body, ...more })).body
  }
  expect(await tryIt()).toEqual({
    found: { manufacturer: 'Lines', model: 'Line 1', serial: device.serial, firmwareVersion: '1.0' },
  })
  expect(await tryIt({ secret: 'planted secret' })).toEqual({
    state: 'REFUSED',
    reason: 'The device refused the password: wrong password •••.',
  })
  expect(await tryIt({ host: '10.9.8.7' })).toMatchObject({
    state: 'UNREACHABLE',
    reason: expect.stringContaining('127.0.0.0/8'),
  })
  expect(await tryIt({ driver: 'reach', username: null, secret: null })).toMatchObject({ state: 'UNSUPPORTED' })
  await until('the session is closed', () => device.sessions === 0)
  expect(deviceIdsIn(world.folder)).toEqual([])
})

/** Like a script that has twenty requests open at the same time. */
async function inParallel<T>(list: readonly T[], work: (one: T, i: number) => Promise<void>): Promise<void> {
  const waiting = list.entries()
  const next = async () => {
    for (const [i, one] of waiting) await work(one, i)
  }
  await Promise.all(Array.from({ length: 20 }, next))
}

test('the end is what the list says: items that are changed, moved and deleted while they connect, many of them', async () => {
  const world = await GatewayWorld.start(harness, org)
  const { body: otherRoom } = await org.call('POST', '/rooms', { body: { name: 'Dal' } })
  const count = isFullForm ? 500 : 20
  const added: { device: LineDevice; id: string }[] = []
  await inParallel(Array.from({ length: count }, newSerial), async (serial) => {
    const device = await LineDevice.start(serial)
    added.push({ device, id: await world.add({ port: device.port, password: 'wrong' }) })
  })
  await inParallel(added, async ({ device: { password: secret }, id }, i) => {
    if (i % 4 === 0) return void (await world.call('DELETE', `/${id}`))
    await world.call('PUT', `/${id}`, { secret })
    if (i % 4 === 1) await world.call('PUT', `/${id}`, { roomId: otherRoom.id })
    if (i % 4 === 2) await world.call('PUT', `/${id}`, { host: 'localhost', secret })
  })
  const startedAt = performance.now()
  const kept = added.filter((_, i) => i % 4 !== 0)
  const items = async () => (await world.call('GET', '')).body.devices
  const isConnected = ({ state }: { state: string }) => state === 'CONNECTED'
  await until('all are connected', async () => (await items()).every(isConnected), { timeoutMs: 180_000 })
  const listed = new Map((await items()).map((item: { id: string }) => [item.id, item]))
  expect([...listed.keys()].sort()).toEqual(kept.map(({ id }) => id).sort())
  const sessions = () => added.map(({ device }) => device.sessions)
  const wanted = added.map((_, i) => (i % 4 === 0 ? 0 : 1))
  await until('no session is left over', () => isDeepStrictEqual(sessions(), wanted))
  await until('their files are gone', () => deviceIdsIn(world.folder).length === kept.length)
  if (isFullForm)
    process.stdout.write(`${count} items: ${Math.round(performance.now() - startedAt)} ms after the last change\n`)
  const { endpoints } = (await org.call('GET', '/endpoints')).body
  const roomOf = new Map(endpoints.map((endpoint: { id: string; roomId: number }) => [endpoint.id, endpoint.roomId]))
  for (const [i, { id }] of added.entries()) {
    if (i % 4 === 0) continue
    const { endpointId } = listed.get(id) as { endpointId: string }
    expect(roomOf.get(endpointId)).toBe(i % 4 === 1 ? otherRoom.id : world.roomId)
  }
})

test('a driver that throws, never answers or emits errors does not disturb the others', async () => {
  const silent: Driver = { open: () => new Promise(() => {}) }
  const thrower: Driver = {
    open: () => {
      throw new TypeError('a mistake')
    },
  }
  class BadSession extends EventEmitter {
    identity = { model: 'Bad', serial: newSerial() }
    status = () => {
      throw new Error('no status')
    }
    close = () => {
      throw new Error('not closed')
    }
  }
  const bad: Driver = {
    open: async () => {
      const session = new BadSession()
      setTimeout(() => session.emit('error', new Error('late')), 50)
      return session as unknown as DriverSession
    },
  }
  const world = await GatewayWorld.start(harness, org, { drivers: { reach: silent, pjlink: thrower, snmp: bad } })
  const device = await LineDevice.start(newSerial())
  const without = { username: null, secret: null }
  await world.add(device, { ...without, driver: 'reach' })
  const thrown = await world.add(device, { ...without, driver: 'pjlink' })
  const failed = await world.add(device, { username: null, driver: 'snmp' })
  const good = await world.add(device)
  await world.reaches(good, 'CONNECTED')
  expect((await world.reaches(thrown, 'UNREACHABLE')).reason).toBe('The driver failed: a mistake')
  expect((await world.reaches(failed, 'UNREACHABLE')).reason).toBe('The driver failed: no status')
  await world.running.stop()
})

test('a gateway of which a copy runs stops after three takeovers and says so; the devices of the copy stay', async () => {
  const world = await GatewayWorld.start(harness, org)
  const device = await LineDevice.start(newSerial())
  const id = await world.add(device)
  const { endpointId } = await world.reaches(id, 'CONNECTED')
  await until('it is online', async () => (await world.endpoint(endpointId)).connected)
  const copy = runGatewayHere(world.url, copyOfFolder(world.folder))
  const failure = await Promise.race([world.running.ended, copy.ended])
  expect(failure?.message).toContain('Another process uses the identity of this gateway')
  const [stopped, left] = world.running.lines.some((line) => line.includes('3 of 3'))
    ? [world.running, copy]
    : [copy, world.running]
  expect(stopped.lines.filter((line) => line.includes('another process')).length).toBe(3)
  await until(
    'the other is connected',
    () => left.lines.lastIndexOf('connected') > left.lines.findLastIndex((line) => line.startsWith('disconnected')),
  )
  await until('its device is online', async () => (await world.endpoint(endpointId)).connected)
})

test('a gateway that is deleted in the server stops, and deletes its credentials', async () => {
  const world = await GatewayWorld.start(harness, org)
  const device = await LineDevice.start(newSerial())
  const id = await world.add(device)
  await world.reaches(id, 'CONNECTED')
  await org.call('DELETE', `/endpoints/${world.id}?items=true`)
  expect((await world.running.ended)?.message).toContain('deleted in the server')
  expect(folderContent(world.folder)).toBe('')
  await until('the session ends', () => device.sessions === 0)
})

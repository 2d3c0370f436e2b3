// Incidents about devices that sleep and devices behind a gateway, over days of a fixed clock. [contract 8.state] [contract 10.gateway]
import { expect, test } from 'vitest'
import { putBehindGateway } from '../../../../test/support/devices/gateway.ts'
import { firstDay as monday, type QuietDevice, quietDevices } from '../../../../test/support/incidents/quiet-devices.ts'
import { isFullForm } from '../../../../test/support/long-form.ts'
import { dayMs, hourMs, minuteMs, secondMs } from '../../../contract/durations.ts'
import { RequestContext } from '../../context/request-context.ts'
import { RegionAccess } from '../../core/region-access.ts'
import { regionsCreate } from '../../fleet/regions/rules.ts'
import { readRoomsInPages } from '../../fleet/rooms/rules.ts'
import { incidentsList } from '../rules.ts'

const settleMs = 10 * minuteMs
/** How often the rules run while time passes. The short form runs them less often than a service would. */
const [fineStepMs, coarseStepMs] = isFullForm ? [secondMs, hourMs] : [10 * secondMs, 6 * hourMs]
const world = quietDevices()
const { newLocation, connect, report, disconnect, pass, open, all } = world

const statesOf = async (roomIds: readonly number[]) => {
  const [{ rooms } = { rooms: [] }] = await Array.fromAsync(readRoomsInPages(world.service.ctx, {}))
  return [...new Set(rooms.filter(({ id }) => roomIds.includes(id)).map(({ state }) => state))]
}

test('displays that sleep every night open nothing; one that is unplugged while it is on is offline, and one that never wakes up is a warning after 14 days', async () => {
  const [displayCount, days] = isFullForm ? [200, 30] : [6, 2]
  const { roomIds, devices } = await newLocation(displayCount / 2, 2)
  const { clock } = world.service
  const together = (step: (device: QuietDevice) => Promise<void>) => Promise.all(devices.map(step))
  await together((device) => connect(device, { sleeps: true, power: 'ON' }))
  for (let day = 0; day < days; day++) {
    await pass(monday + day * dayMs + 19 * hourMs - clock.now(), coarseStepMs)
    await together(async (device) => {
      await report(device, { power: 'STANDBY' })
      await disconnect(device)
    })
    await pass(6 * minuteMs)
    expect(await statesOf(roomIds)).toEqual(['HEALTHY'])
    await pass(monday + (day + 1) * dayMs + 7 * hourMs - clock.now(), coarseStepMs)
    await together((device) => connect(device, { power: 'ON' }))
    await pass(6 * minuteMs)
  }
  expect(await all()).toEqual([])

  const [unplugged, asleep] = devices as [QuietDevice, QuietDevice]
  await disconnect(unplugged)
  await pass(5 * minuteMs + 2 * secondMs, fineStepMs)
  expect(await open()).toMatchObject([
    { rule: 'device.offline', severity: 'WARNING', cause: { level: 'ENDPOINT', id: unplugged.id } },
  ])
  await connect(unplugged)
  await pass(3 * minuteMs)
  expect(await open()).toEqual([])

  await report(asleep, { power: 'OFF' })
  await disconnect(asleep)
  await pass(336 * hourMs, coarseStepMs)
  expect(await open()).toEqual([])
  await pass(6 * minuteMs)
  expect(await open()).toMatchObject([
    { rule: 'device.offline', severity: 'WARNING', cause: { level: 'LOCATION' }, openSubjectCount: 1 },
  ])
  expect((await open())[0]?.title).toContain('has not woken up')
  await connect(asleep, { power: 'ON' })
  await pass(3 * minuteMs)
  expect(await open()).toEqual([])
})

test('after a holiday in which all displays sleep for too long, each location has one warning and no outage', async () => {
  const sites = [await newLocation(4, 1), await newLocation(4, 1)]
  const devices = sites.flatMap((site) => site.devices)
  for (const device of devices) {
    await connect(device, { sleeps: true, power: 'STANDBY' })
    await disconnect(device)
  }
  await pass(337 * hourMs, coarseStepMs)
  const opened = await open()
  expect(opened).toMatchObject(
    sites.map(() => ({ severity: 'WARNING', cause: { level: 'LOCATION' }, openSubjectCount: 4 })),
  )
  expect(new Set(opened.map(({ cause }) => cause.id))).toEqual(new Set(sites.map(({ locationId }) => `${locationId}`)))
  for (const device of devices) await connect(device)
  await pass(3 * minuteMs)
  expect(await open()).toEqual([])
})

test('a gateway that dies is one incident with its devices, whose rooms are unknown; when it is back, nothing is left [contract 10.gateway]', async () => {
  const roomCount = isFullForm ? 31 : 7
  const { roomIds, devices } = await newLocation(roomCount, 2)
  const [gateway, ...others] = devices as [QuietDevice, ...QuietDevice[]]
  // The last room has a device that connects directly.
  const behind = others.slice(0, -1)
  const { clock } = world.service
  await putBehindGateway(
    world.service,
    gateway.id,
    behind.map(({ id }) => id),
  )
  for (const device of devices) await connect(device)
  await pass(minuteMs)
  const before = (await all()).length
  // The server notices the ends of the connections within a minute and a half of each other.
  const [early, late] = [behind.slice(0, roomCount - 1), behind.slice(roomCount - 1)]
  for (const device of early) await disconnect(device)
  clock.advance(45 * secondMs)
  await disconnect(gateway)
  clock.advance(45 * secondMs)
  for (const device of late) await disconnect(device)
  expect(await statesOf(roomIds.slice(1, -1))).toEqual(['UNKNOWN'])
  expect(await statesOf(roomIds.slice(-1))).toEqual(['HEALTHY'])
  await pass(5 * minuteMs, 10 * secondMs)
  const [incident, ...more] = await open()
  expect(more).toEqual([])
  expect(incident).toMatchObject({
    rule: 'device.offline',
    severity: 'CRITICAL',
    cause: { level: 'GATEWAY', id: gateway.id },
    openSubjectCount: 2 * roomCount - 1,
  })
  const unseen = `${2 * roomCount - 2} devices in ${roomCount} rooms cannot be seen`
  expect(incident?.title).toMatch(new RegExp(`^Gateway .* is offline: ${unseen}$`))
  await pass(2 * hourMs, 5 * minuteMs)
  expect(await open()).toHaveLength(1)

  await connect(gateway)
  for (const device of behind) await connect(device)
  await pass(3 * minuteMs)
  expect(await open()).toEqual([])
  await pass(settleMs)
  expect((await all()).length).toBe(before + 1)
  expect(await statesOf(roomIds)).toEqual(['HEALTHY'])
})

test('a device that does not come back with its gateway is an incident of its own when the time to settle is over', async () => {
  const { devices } = await newLocation(4, 1)
  const [gateway, back, lost, sleeper] = devices as [QuietDevice, QuietDevice, QuietDevice, QuietDevice]
  await putBehindGateway(world.service, gateway.id, [back.id, lost.id, sleeper.id])
  for (const device of [gateway, back, lost]) await connect(device)
  await connect(sleeper, { sleeps: true, power: 'ON' })
  await pass(minuteMs)
  for (const device of devices) await disconnect(device)
  await pass(20 * minuteMs)
  expect(await open()).toMatchObject([{ cause: { level: 'GATEWAY' }, openSubjectCount: 4 }])
  await connect(gateway)
  await connect(back)
  await pass(9 * minuteMs)
  expect(await open()).toEqual([])
  await pass(3 * minuteMs)
  expect(await open()).toMatchObject([{ cause: { level: 'ROOM' }, openSubjectCount: 1 }])
  await connect(lost)
  await connect(sleeper)
  await pass(3 * minuteMs)
  expect(await open()).toEqual([])
})

test('an incident of a device that was offline before its gateway stays as it was while the gateway is away [contract 10.gateway]', async () => {
  const { devices } = await newLocation(3, 2)
  const [gateway, , lost, , behind] = devices as [QuietDevice, QuietDevice, QuietDevice, QuietDevice, QuietDevice]
  await putBehindGateway(world.service, gateway.id, [lost.id, behind.id])
  for (const device of devices) await connect(device)
  await pass(settleMs)
  await disconnect(lost)
  await pass(6 * minuteMs)
  const [before] = await open()
  expect(before).toMatchObject({ cause: { level: 'ENDPOINT', id: lost.id }, openSubjectCount: 1 })
  await pass(hourMs, 5 * minuteMs)
  for (const device of [gateway, behind]) await disconnect(device)
  await pass(6 * minuteMs)
  const [own, ofGateway, ...more] = (await open()).toSorted((a, b) => Number(a.id) - Number(b.id))
  expect([own, more]).toEqual([before, []])
  expect(ofGateway).toMatchObject({ cause: { level: 'GATEWAY' }, openSubjectCount: 2 })
  for (const device of [gateway, behind]) await connect(device)
  await pass(settleMs + 3 * minuteMs)
  expect(await open()).toEqual([before])
  await connect(lost)
  await pass(3 * minuteMs)
  expect(await open()).toEqual([])
})

test('the incident of a gateway is a warning, and critical when a room has no other device online; a caller of one region gets its part [contract 10.gateway]', async () => {
  const { ctx, services } = world.service
  const regionId = (await regionsCreate(ctx, { name: 'Asia' })).body.id
  const [rack, far] = [await newLocation(2, 2), await newLocation(1, 3, regionId)]
  const [gateway, , near, beside] = rack.devices as [QuietDevice, QuietDevice, QuietDevice, QuietDevice]
  const behind = [near, ...far.devices.slice(0, 2)]
  const devices = [...rack.devices, ...far.devices]
  await putBehindGateway(
    world.service,
    gateway.id,
    behind.map(({ id }) => id),
  )
  for (const device of devices) await connect(device)
  await pass(minuteMs)
  for (const device of [gateway, ...behind]) await disconnect(device)
  await pass(6 * minuteMs)
  const hint = expect.stringMatching(/^Check the machine that the gateway runs on/)
  expect(await open()).toMatchObject([{ severity: 'WARNING', cause: { level: 'GATEWAY' }, openSubjectCount: 4, hint }])
  const { org, actor, may } = ctx
  const caller = new RequestContext(services, { org, actor, may, access: RegionAccess.of([regionId]) })
  const part = { title: 'A gateway is offline: 2 devices in 1 room cannot be seen', openSubjectCount: 2, hint }
  expect((await incidentsList(caller, {})).incidents).toMatchObject([{ ...part, severity: 'WARNING' }])
  await disconnect(beside)
  await pass(6 * minuteMs)
  const ofGateway = (await open()).find(({ cause }) => cause.level === 'GATEWAY')
  expect(ofGateway).toMatchObject({ severity: 'CRITICAL', openSubjectCount: 4 })
  expect((await incidentsList(caller, {})).incidents, 'its room has a device online').toMatchObject([
    { ...part, severity: 'WARNING' },
  ])
  for (const device of [gateway, ...behind, beside]) await connect(device)
  await pass(settleMs + 3 * minuteMs)
  expect(await open()).toEqual([])
})

test('if the other rooms of the location go with the gateway, there is one incident of the location', async () => {
  const { locationId, devices } = await newLocation(8, 1)
  const [gateway, a, b, ...direct] = devices as [QuietDevice, QuietDevice, QuietDevice, ...QuietDevice[]]
  await putBehindGateway(world.service, gateway.id, [a.id, b.id])
  for (const device of devices) await connect(device)
  await pass(minuteMs)
  for (const device of devices) await disconnect(device)
  await pass(7 * minuteMs, 10 * secondMs)
  expect(await open()).toMatchObject([
    { cause: { level: 'LOCATION', id: String(locationId) }, openSubjectCount: devices.length },
  ])
  expect(direct).toHaveLength(5)
  for (const device of devices) await connect(device)
  await pass(3 * minuteMs)
  expect(await open()).toEqual([])
})

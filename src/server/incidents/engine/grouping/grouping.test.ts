// How findings become incidents: one for each cause, in courses of events with a clock of their own.
import { expect, test } from 'vitest'
import { IncidentWorld } from '../../../../../test/support/incidents/incident-world.ts'
import { minuteMs } from '../../../../contract/durations.ts'
import type { Severity } from '../../../../contract/incidents/rule-table.ts'

const channelEvents = (world: IncidentWorld) => world.told.map(({ event }) => event)

test('a device that is offline for 5 minutes is one incident, which ends when it was connected for 2 [contract 10.cause]', () => {
  const world = new IncidentWorld()
  const [bar = '', controller = ''] = world.addRoom(1, null, 2)
  world.pass(minuteMs)
  world.cut(bar)
  world.pass(4.9 * minuteMs)
  expect(world.incidents).toEqual([])
  world.pass(0.1 * minuteMs)
  expect(world.open).toMatchObject([
    { rule: 'device.offline', severity: 'WARNING', state: 'OPEN', level: 'ENDPOINT', causeId: bar, occurrences: 1 },
  ])
  expect(world.links.get(controller)?.isConnected).toBe(true)
  world.connect(bar)
  world.pass(1.9 * minuteMs)
  expect(world.openCauses).toEqual([`ENDPOINT ${bar}: 1`])
  world.pass(0.1 * minuteMs)
  expect(world.incidents).toMatchObject([{ state: 'RESOLVED', resolvedAt: world.now, causeEndedAt: world.now }])
  expect(channelEvents(world)).toEqual(['incident.opened', 'incident.resolved'])
})

test('a room without a connected device is one critical incident; a device that was never connected does not count [contract 10.cause]', () => {
  const world = new IncidentWorld()
  const devices = world.addRoom(1, null, 2)
  world.addDevice('spare', 1, { wasConnected: false })
  world.cut(...devices)
  world.pass(6 * minuteMs)
  expect(world.open).toMatchObject([{ severity: 'CRITICAL', level: 'ROOM', causeId: '1', causeName: 'Room 1' }])
  expect(world.openCauses).toEqual(['ROOM 1: 2'])
})

test('devices that work as a pair share an incident, and others of the room do not [contract 10.cause]', () => {
  const world = new IncidentWorld()
  world.addRoom(1, null, 1)
  world.addDevice('bar', 1, { pairGroup: 'p' })
  world.addDevice('controller', 1, { pairGroup: 'p' })
  world.addDevice('sensor', 1)
  world.cut('bar')
  world.pass(8 * minuteMs)
  world.cut('controller', 'sensor')
  world.pass(8 * minuteMs)
  expect(world.openCauses).toEqual(['ENDPOINT bar: 2', 'ENDPOINT sensor: 1'])
})

test('200 devices of a location that are cut within 90 seconds are one incident from its first message on [contract 10.cause]', () => {
  const world = new IncidentWorld()
  const site = world.addLocation(1, 100, 2).flat()
  world.addLocation(2, 100, 2)
  for (const [i, id] of site.entries()) {
    world.cut(id)
    if (i % 20 === 0) world.pass(9000, 1000)
  }
  world.pass(10 * minuteMs, 1000)
  expect(world.openCauses).toEqual(['LOCATION 1: 200'])
  expect(world.incidents).toHaveLength(1)
  expect(world.incidents[0]).toMatchObject({ severity: 'CRITICAL', causeName: 'Location 1' })
  world.connect(...site)
  world.pass(5 * minuteMs)
  expect(world.incidents).toMatchObject([{ state: 'RESOLVED' }])
  // Devices that joined after the first minute are told to channels that want changes.
  const [opened, changed, resolved] = ['incident.opened', 'incident.changed', 'incident.resolved']
  expect(channelEvents(world)).toEqual([opened, changed, changed, resolved])
})

test.for([
  { name: '3 of 6 rooms', rooms: 6, cut: 3, afterMinutes: 0, expected: ['LOCATION 1: 3'] },
  {
    name: '3 of 7 rooms',
    rooms: 7,
    cut: 3,
    afterMinutes: 0,
    expected: ['ROOM 1000: 1', 'ROOM 1001: 1', 'ROOM 1002: 1'],
  },
  { name: '2 of 2 rooms', rooms: 2, cut: 2, afterMinutes: 0, expected: ['ROOM 1000: 1', 'ROOM 1001: 1'] },
  { name: '3 of 6 rooms in 10 minutes', rooms: 6, cut: 3, afterMinutes: 5, expected: ['LOCATION 1: 3'] },
  {
    name: '3 of 6 rooms in 12 minutes',
    rooms: 6,
    cut: 3,
    afterMinutes: 6,
    expected: ['ROOM 1000: 1', 'ROOM 1001: 1', 'ROOM 1002: 1'],
  },
])('$name of a location: $expected [contract 10.cause]', ({ rooms, cut, afterMinutes, expected }) => {
  const world = new IncidentWorld()
  for (const ids of world.addLocation(1, rooms).slice(0, cut)) {
    world.cut(...ids)
    if (afterMinutes > 0) world.pass(afterMinutes * minuteMs)
  }
  world.pass(10 * minuteMs)
  expect(world.openCauses).toEqual(expected)
})

test.for([
  { name: '2 of the other 3', rooms: 4, leftOut: 1, cut: 2, expected: ['ROOM 1000: 1', 'ROOM 1001: 1'] },
  { name: '3 of the other 4', rooms: 6, leftOut: 2, cut: 3, expected: ['LOCATION 1: 3'] },
  { name: '3 of the other 6', rooms: 7, leftOut: 1, cut: 3, expected: ['LOCATION 1: 3'] },
])(
  '$leftOut of $rooms rooms are asleep or unknown, and $name offline: $expected [contract 10.cause]',
  ({ rooms, leftOut, cut, expected }) => {
    const world = new IncidentWorld()
    const site = world.addLocation(1, rooms)
    for (const id of site.slice(-leftOut).flat()) world.leftOut.add(id)
    world.cut(...site.slice(0, cut).flat())
    world.pass(10 * minuteMs)
    expect(world.openCauses).toEqual(expected)
  },
)

test('rooms that were offline an hour before do not count for a location, and keep their incidents [contract 10.cause]', () => {
  const world = new IncidentWorld()
  const rooms = world.addLocation(1, 10)
  for (const ids of rooms.slice(0, 4)) {
    world.cut(...ids)
    world.pass(11 * minuteMs)
  }
  world.pass(70 * minuteMs)
  expect(world.open).toHaveLength(4)
  world.cut(...rooms.slice(4, 7).flat())
  world.pass(6 * minuteMs)
  expect(world.openCauses).toEqual(['LOCATION 1: 3', 'ROOM 1000: 1', 'ROOM 1001: 1', 'ROOM 1002: 1', 'ROOM 1003: 1'])
})

test('smaller incidents become part of a larger one, and later findings join it [contract 10.cause]', () => {
  const world = new IncidentWorld()
  const rooms = world.addLocation(1, 6, 2)
  const [first = [], second = [], third = [], fourth = []] = rooms
  world.cut(first[0] as string)
  world.pass(6 * minuteMs)
  expect(world.openCauses).toEqual(['ENDPOINT 1000-0: 1'])
  world.cut(first[1] as string)
  world.pass(2 * minuteMs)
  world.cut(...second, ...third)
  world.pass(6 * minuteMs)
  expect(world.openCauses).toEqual(['LOCATION 1: 6'])
  const larger = world.open[0]?.id
  expect(world.incidents.filter(({ state }) => state === 'MERGED')).toMatchObject([{ mergedInto: larger }])
  world.pass(20 * minuteMs)
  world.cut(...fourth)
  world.pass(6 * minuteMs)
  expect(world.openCauses).toEqual(['LOCATION 1: 8'])
})

test('half of the locations with devices, at least 2, are one incident of the organisation [contract 10.cause]', () => {
  const world = new IncidentWorld()
  const sites = [1, 2, 3, 4].map((id) => world.addLocation(id, 4).flat())
  world.addLocation(5, 0)
  world.addRoom(77, null, 1)
  world.cut(...(sites[0] ?? []), ...(sites[1] ?? []), '77-0')
  world.pass(6 * minuteMs)
  expect(world.openCauses).toEqual(['ORGANISATION org: 9'])
  world.cut(...(sites[2] ?? []))
  world.pass(6 * minuteMs)
  expect(world.openCauses).toEqual(['ORGANISATION org: 13'])
})

test('locations that went offline at different times are incidents of their own [contract 10.cause]', () => {
  const world = new IncidentWorld()
  const [a = [], b = []] = [1, 2].map((id) => world.addLocation(id, 4).flat())
  world.cut(...a)
  world.pass(20 * minuteMs)
  world.cut(...b)
  world.pass(20 * minuteMs)
  expect(world.openCauses).toEqual(['LOCATION 1: 4', 'LOCATION 2: 4'])
})

test('a larger incident splits 2 minutes after the last device came back [contract 10.cause]', () => {
  const world = new IncidentWorld()
  const site = world.addLocation(1, 6, 2)
  world.cut(...site.flat())
  world.pass(6 * minuteMs)
  const larger = world.open[0]?.id as number
  world.connect(...site.slice(0, 2).flat())
  world.pass(3 * minuteMs)
  expect(world.openCauses, 'still 4 of 6 rooms').toEqual(['LOCATION 1: 8'])
  world.connect(...site.slice(2, 4).flat(), site[4]?.[0] as string)
  world.pass(1.9 * minuteMs)
  expect(world.openCauses).toEqual(['LOCATION 1: 8'])
  world.pass(0.2 * minuteMs)
  expect(world.openCauses).toEqual(['ENDPOINT 1004-1: 1', 'ROOM 1005: 2'])
  expect(world.open.map(({ splitFrom }) => splitFrom)).toEqual([larger, larger])
  expect(world.open.map(({ severity }) => severity).sort()).toEqual(['CRITICAL', 'WARNING'])
  expect(world.incidents.find(({ id }) => id === larger)?.state).toBe('RESOLVED')
})

test('a location that remains of an incident of the organisation is one incident [contract 10.cause]', () => {
  const world = new IncidentWorld()
  const sites = [1, 2, 3].map((id) => world.addLocation(id, 5).flat())
  world.cut(...sites.flat())
  world.pass(6 * minuteMs)
  expect(world.openCauses).toEqual(['ORGANISATION org: 15'])
  world.connect(...(sites[0] ?? []), ...(sites[1] ?? []))
  world.pass(3 * minuteMs)
  expect(world.openCauses).toEqual(['LOCATION 3: 5'])
})

test('a room of which one device came back is an incident of the other device [contract 10.cause]', () => {
  const world = new IncidentWorld()
  const [bar = '', controller = ''] = world.addRoom(1, null, 2)
  world.cut(bar, controller)
  world.pass(6 * minuteMs)
  world.connect(bar)
  world.pass(3 * minuteMs)
  expect(world.openCauses).toEqual([`ENDPOINT ${controller}: 1`])
  expect(world.open[0]?.severity).toBe('WARNING')
})

test('a device that is deleted leaves its incident [contract 10.finding]', () => {
  const world = new IncidentWorld()
  world.addDevice('bar', null)
  world.cut('bar')
  world.pass(6 * minuteMs)
  world.endpoints.delete('bar')
  world.links.delete('bar')
  world.run()
  expect(world.incidents).toMatchObject([{ state: 'RESOLVED' }])
})

test('devices that a restart has lost are one incident of the organisation, which names the restart [contract 10.start]', () => {
  const world = new IncidentWorld()
  const devices = Array.from({ length: 10 }, (_, i) => world.addDevice(`bar ${i}`, null))
  const at = world.now
  world.cut(...devices.slice(0, 8))
  world.now = at + 5 * minuteMs
  world.failedRestarts = [{ at, connectedBefore: 10, missing: new Set(devices.slice(0, 8)) }]
  world.run()
  expect(world.open).toMatchObject([{ severity: 'CRITICAL', detail: { restart: { at, connectedBefore: 10 } } }])
  expect(world.openCauses).toEqual(['ORGANISATION org: 8'])
  world.connect(...devices.slice(0, 6))
  world.pass(3 * minuteMs)
  expect(world.openCauses).toEqual(['ENDPOINT bar 6: 1', 'ENDPOINT bar 7: 1'])
})

test('a device whose silence ends in an outage that began long after it went offline is an incident of its own [contract 10.cause]', () => {
  const world = new IncidentWorld()
  const [[early = '', late = ''] = [], ...others] = world.addLocation(1, 4, 2)
  world.silencedUntil.set(early, world.now + 80 * minuteMs)
  world.cut(early)
  world.pass(60 * minuteMs)
  world.cut(late, ...others.flat())
  world.pass(6 * minuteMs)
  expect(world.openCauses).toEqual(['LOCATION 1: 7'])
  world.pass(30 * minuteMs)
  expect(world.openCauses).toEqual(['LOCATION 1: 7', 'ROOM 1000: 1'])
})

test('during a silence of all that it is about an incident does not split, and tells its end only [contract 10.silence]', () => {
  const world = new IncidentWorld()
  const site = world.addLocation(1, 6, 1).flat()
  const bar = world.addDevice('bar', null)
  const setSeverity = (severity: Severity) => {
    world.rules = { ...world.rules, 'device.offline': { ...world.rules['device.offline'], severity } }
  }
  world.cut(...site, bar)
  world.pass(6 * minuteMs)
  for (const id of [...site, bar]) world.silencedUntil.set(id, world.now + 60 * minuteMs)
  setSeverity('INFO')
  world.connect(...site.slice(0, 5))
  world.pass(10 * minuteMs)
  expect(world.openCauses).toEqual(['ENDPOINT bar: 1', 'LOCATION 1: 1'])
  expect(world.open[1]).toMatchObject({ severity: 'INFO' })
  expect(world.told.map(({ event }) => event)).toEqual(['incident.opened', 'incident.opened'])
  world.connect(bar)
  world.pass(3 * minuteMs)
  expect(world.told.slice(2)).toMatchObject([{ event: 'incident.resolved' }])
  world.pass(50 * minuteMs)
  expect(world.openCauses).toEqual(['ROOM 1005: 1'])
})

test('a split opens nothing for a room that is silenced, and opens the rest [contract 10.silence]', () => {
  const world = new IncidentWorld()
  const site = world.addLocation(1, 6, 1).flat()
  const [quiet = '', other = '', ...back] = site
  world.cut(...site)
  world.pass(6 * minuteMs)
  world.silencedUntil.set(quiet, world.now + 60 * minuteMs)
  world.connect(...back)
  world.pass(10 * minuteMs)
  expect(world.openCauses).toEqual(['LOCATION 1: 1', 'ROOM 1001: 1'])
  expect(world.open.find(({ level }) => level === 'ROOM')).toMatchObject({ splitFrom: 1 })
  world.connect(other)
  world.pass(5 * minuteMs)
  expect(world.openCauses, 'the silenced room has no incident of its own').toEqual(['LOCATION 1: 1'])
  world.pass(50 * minuteMs)
  expect(world.openCauses).toEqual(['ROOM 1000: 1'])
})

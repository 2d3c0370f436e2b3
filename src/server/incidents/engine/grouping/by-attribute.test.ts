// How findings of other rules than device.offline share incidents.
import { expect, test } from 'vitest'
import { IncidentWorld } from '../../../../../test/support/incidents/incident-world.ts'
import { minuteMs } from '../../../../contract/durations.ts'

test.for([
  { rule: 'config.undelivered', detail: {}, expected: ['MODEL Bar: 2', 'MODEL Board: 1'] },
  { rule: 'clock.unreachable', detail: {}, expected: ['ENDPOINT c: 1', 'LOCATION 1: 2'] },
  { rule: 'storage.low', detail: {}, expected: ['ENDPOINT a: 1', 'ENDPOINT b: 1', 'ENDPOINT c: 1'] },
  { rule: 'device.fault', detail: { fault: { code: 'fan' } }, expected: ['MODEL Bar: 2', 'MODEL Board: 1'] },
  {
    rule: 'gateway.device',
    detail: { unmanaged: ['REFUSED'] },
    expected: ['ENDPOINT a: 1', 'ENDPOINT b: 1', 'ENDPOINT c: 1'],
  },
  {
    rule: 'source.failing',
    detail: { source: { id: 's1', name: 'Neat Pulse' } },
    expected: ['ENDPOINT a: 1', 'ENDPOINT b: 1', 'ENDPOINT c: 1'],
  },
  { rule: 'peripheral.missing', detail: {}, expected: ['ENDPOINT c: 1', 'ROOM 1000: 2'] },
  { rule: 'config.rejected', detail: {}, expected: ['ENDPOINT a: 1', 'ENDPOINT b: 1', 'ENDPOINT c: 1'] },
  { rule: 'config.rejected', detail: { profileId: 4, keys: ['volume'] }, expected: ['PROFILE 4: 3'] },
  { rule: 'config.rejected', detail: { jobId: 9, keys: ['volume'] }, expected: ['JOB 9: 3'] },
] as const)(
  'findings of $rule with $detail are grouped as $expected [contract 10.rule]',
  ({ rule, detail, expected }) => {
    const world = new IncidentWorld()
    world.addLocation(1, 1, 0)
    world.addDevice('a', 1000)
    world.addDevice('b', 1000)
    world.addDevice('c', null, { model: 'Board' })
    for (const id of ['a', 'b', 'c']) world.observe(rule, { type: 'endpoint', id }, 'holds', detail)
    world.pass(65 * minuteMs, minuteMs)
    expect(world.openCauses).toEqual([...expected])
  },
)

test('a device with an outage has no second incident because it flaps, until an hour after the outage [contract 10.rule]', () => {
  const world = new IncidentWorld()
  world.addRoom(7, null, 2)
  const device = '7-0'
  const flap = (state: 'holds' | 'clear') => world.observe('device.flapping', { type: 'endpoint', id: device }, state)
  world.cut(device)
  world.pass(6 * minuteMs)
  flap('holds')
  world.pass(minuteMs)
  expect(world.openCauses).toEqual([`ENDPOINT ${device}: 1`])
  world.connect(device)
  world.pass(50 * minuteMs)
  expect(world.openCauses).toEqual([])
  world.pass(20 * minuteMs)
  expect(world.open).toMatchObject([{ rule: 'device.flapping', causeId: device }])
  // An outage of a device that flaps already is told all the same.
  world.cut(device)
  world.pass(6 * minuteMs)
  expect(world.open.map(({ rule }) => rule)).toEqual(['device.flapping', 'device.offline'])
})

test('a job that was stopped does not share the incident of the settings that its devices rejected [contract 10.rule]', () => {
  const world = new IncidentWorld()
  world.addDevice('a', null)
  world.observe('config.rejected', { type: 'endpoint', id: 'a' }, 'holds', { jobId: 5, keys: ['volume'] })
  const job = { name: 'Night', locationId: null, regionId: null }
  world.observe('job.stopped', { type: 'job', id: '5' }, 'holds', { job })
  world.pass(2 * minuteMs)
  expect(world.open.map(({ rule, level, causeId }) => [rule, level, causeId])).toEqual([
    ['job.stopped', 'JOB', '5'],
    ['config.rejected', 'JOB', '5'],
  ])
})

test('each job that was stopped is an incident of its own [contract 10.rule]', () => {
  const world = new IncidentWorld()
  for (const id of ['5', '6']) {
    const job = { name: `Night ${id}`, locationId: null, regionId: null }
    world.observe('job.stopped', { type: 'job', id }, 'holds', { job })
  }
  world.pass(2 * minuteMs)
  expect(world.openCauses).toEqual(['JOB 5: 1', 'JOB 6: 1'])
  expect(world.open.map(({ causeName }) => causeName)).toEqual(['Night 5', 'Night 6'])
})

test.for([{ profileId: 4 }, { jobId: 4 }])(
  'different settings of %o that are refused are different incidents [contract 10.rule]',
  (group) => {
    const world = new IncidentWorld()
    for (const [id, key] of [
      ['a', 'volume'],
      ['b', 'volume'],
      ['c', 'brightness'],
    ] as const) {
      world.addDevice(id, null)
      world.observe('config.rejected', { type: 'endpoint', id }, 'holds', { ...group, keys: [key] })
    }
    world.pass(2 * minuteMs)
    expect(world.open.map(({ detail, causeName }) => [causeName, detail.keys])).toEqual([
      ['name of 4', ['volume']],
      ['name of 4', ['brightness']],
    ])
  },
)

test.for([
  ['PROFILE', { profileId: 4 }],
  ['JOB', { jobId: 4 }],
] as const)(
  'devices that reject one setting of a %s in common share an incident, whichever else they reject [contract 10.rule]',
  ([level, group]) => {
    const world = new IncidentWorld()
    const reject = (id: string, ...keys: string[]) => {
      world.addDevice(id, null)
      world.observe('config.rejected', { type: 'endpoint', id }, 'holds', { ...group, keys })
      world.pass(2 * minuteMs)
    }
    reject('a', 'volume')
    reject('b', 'brightness', 'volume')
    expect(world.openCauses).toEqual([`${level} 4: 2`])
    reject('c', 'brightness')
    expect(world.openCauses).toEqual([`${level} 4: 1`, `${level} 4: 2`])
    reject('d', 'brightness', 'language')
    expect(world.openCauses).toEqual([`${level} 4: 2`, `${level} 4: 2`])
  },
)

test('an incident of a profile keeps the settings that it is about, when a device rejects others too [contract 10.rule]', () => {
  const world = new IncidentWorld()
  const reject = (id: string, ...keys: string[]) =>
    world.observe('config.rejected', { type: 'endpoint', id }, 'holds', { profileId: 4, keys })
  for (const id of ['a', 'b', 'c']) world.addDevice(id, null)
  reject('a', 'volume')
  reject('b', 'volume')
  world.pass(2 * minuteMs)
  reject('a', 'brightness', 'volume')
  world.pass(2 * minuteMs)
  reject('c', 'volume')
  world.pass(2 * minuteMs)
  expect(world.openCauses).toEqual(['PROFILE 4: 3'])
  expect(world.open[0]?.detail.keys).toEqual(['volume'])
})

test('numbers that change with every run are no change of the incident; they are written with the next one', () => {
  const world = new IncidentWorld()
  world.addRoom(7, null, 1)
  const crowd = (people: number) =>
    world.observe('room.crowded', { type: 'room', id: '7' }, 'holds', { people, capacity: 4 })
  crowd(5)
  world.pass(11 * minuteMs)
  const [opened] = world.open
  crowd(9)
  world.pass(2 * minuteMs)
  expect(world.open[0]).toBe(opened)
  world.rules = { ...world.rules, 'room.crowded': { ...world.rules['room.crowded'], severity: 'WARNING' } }
  world.pass(minuteMs)
  expect(world.open).toMatchObject([{ severity: 'WARNING', detail: { people: 9 } }])
})

test('subjects that join and leave every few seconds are one entry a minute, and those that join one message [contract 10.states]', () => {
  const world = new IncidentWorld()
  const ids = Array.from({ length: 30 }, (_, i) => world.addDevice(`bar ${i}`, null))
  const observe = (id: string, state: 'holds' | 'clear') =>
    world.observe('config.undelivered', { type: 'endpoint', id }, state)
  for (const id of ids) {
    observe(id, 'holds')
    world.pass(10_000)
  }
  world.pass(16 * minuteMs)
  expect(world.openCauses).toEqual(['MODEL Bar: 30'])
  // The 29 later devices joined within five minutes.
  const changes = world.told.filter(({ event }) => event === 'incident.changed')
  expect(changes.length).toBeGreaterThanOrEqual(5)
  expect(changes.length).toBeLessThanOrEqual(6)
  const lastJoined = Math.max(...world.findings.map(({ maturedAt }) => maturedAt ?? 0))
  expect(changes.at(-1)?.at, 'the last one is told too').toBeGreaterThanOrEqual(lastJoined)
  expect(world.entries.filter((kind) => kind === 'JOINED')).toHaveLength(changes.length)
  for (const id of ids.slice(1)) {
    observe(id, 'clear')
    world.pass(10_000)
  }
  expect(world.entries.filter((kind) => kind === 'LEFT').length).toBeLessThanOrEqual(6)
})

test('an incident gets the severity of its worst finding, and says that it changed [contract 10.rule]', () => {
  const world = new IncidentWorld()
  const subject = { type: 'organisation', id: 'org' } as const
  world.observe('certificate.expiring', subject, 'holds', {})
  world.pass(minuteMs)
  world.observe('certificate.expiring', subject, 'holds', { severity: 'CRITICAL' })
  world.pass(minuteMs)
  expect(world.open).toMatchObject([{ level: 'ORGANISATION', severity: 'CRITICAL', occurrences: 1 }])
  expect(world.told.map(({ event }) => event)).toEqual(['incident.opened', 'incident.changed'])
})

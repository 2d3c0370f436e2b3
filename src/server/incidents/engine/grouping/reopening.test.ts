// Incidents that come back: reopening, flapping, and what people resolved.
import { expect, test } from 'vitest'
import { IncidentWorld } from '../../../../../test/support/incidents/incident-world.ts'
import { hourMs, minuteMs } from '../../../../contract/durations.ts'
import { incidentRules, ruleIds } from '../../../../contract/incidents/rule-table.ts'

const channelEvents = (world: IncidentWorld) => world.told.map(({ event }) => event)

test('the same cause within 60 minutes reopens its incident; later it opens another [contract 10.states]', () => {
  const world = new IncidentWorld()
  world.addDevice('bar', null)
  const outage = () => {
    world.cut('bar')
    world.pass(6 * minuteMs)
    world.connect('bar')
    world.pass(3 * minuteMs)
  }
  outage()
  world.pass(50 * minuteMs)
  outage()
  expect(world.incidents).toMatchObject([{ state: 'RESOLVED', occurrences: 2, flapping: false }])
  expect(channelEvents(world)).toEqual([
    'incident.opened',
    'incident.resolved',
    'incident.reopened',
    'incident.resolved',
  ])
  world.pass(61 * minuteMs)
  outage()
  expect(world.incidents).toMatchObject([{ occurrences: 2 }, { occurrences: 1 }])
})

test('from the third reopening in 24 hours on nothing is told, until the incident was quiet for an hour [contract 10.states]', () => {
  const world = new IncidentWorld()
  world.addDevice('bar', null)
  for (let i = 0; i < 8; i++) {
    world.cut('bar')
    world.pass(6 * minuteMs)
    expect(world.open).toMatchObject([{ flapping: i >= 3, occurrences: i + 1 }])
    world.connect('bar')
    world.pass(3 * minuteMs)
  }
  expect(world.told).toHaveLength(6)
  world.pass(61 * minuteMs)
  expect(world.incidents).toMatchObject([{ state: 'RESOLVED', flapping: false, occurrences: 8 }])
  expect(channelEvents(world).slice(6)).toEqual(['incident.resolved'])
})

test('a flapping incident that stays open is told again after an hour [contract 10.states]', () => {
  const world = new IncidentWorld()
  world.addDevice('bar', null)
  for (let i = 0; i < 4; i++) {
    if (i > 0) world.connect('bar')
    world.pass(3 * minuteMs)
    world.cut('bar')
    world.pass(6 * minuteMs)
  }
  expect(channelEvents(world).at(-1)).toBe('incident.resolved')
  world.pass(hourMs)
  expect(channelEvents(world).at(-1)).toBe('incident.reopened')
  expect(world.open).toMatchObject([{ flapping: false }])
})

test('a flapping incident that is quiet during a silence is told again after the silence [contract 10.silence]', () => {
  const world = new IncidentWorld()
  world.addDevice('bar', null)
  for (let i = 0; i < 4; i++) {
    if (i > 0) world.connect('bar')
    world.pass(3 * minuteMs)
    world.cut('bar')
    world.pass(6 * minuteMs)
  }
  world.silencedUntil.set('bar', world.now + 2 * hourMs)
  world.pass(2 * hourMs - minuteMs)
  expect(channelEvents(world).at(-1)).toBe('incident.resolved')
  world.pass(2 * minuteMs)
  expect(channelEvents(world).at(-1)).toBe('incident.reopened')
  expect(world.open).toMatchObject([{ flapping: false }])
})

test('an incident that a person resolved stays closed while its cause lasts, also for later findings [contract 10.states]', () => {
  const world = new IncidentWorld()
  const site = world.addLocation(1, 6, 1).flat()
  world.cut(...site.slice(0, 5))
  world.pass(6 * minuteMs)
  world.incidents = world.incidents.map((i) => ({ ...i, state: 'RESOLVED', resolvedAt: world.now }))
  world.cut(...site.slice(5))
  world.pass(30 * minuteMs)
  expect(world.openCauses).toEqual([])
  world.connect(...site)
  world.pass(3 * minuteMs)
  expect(world.incidents).toMatchObject([{ state: 'RESOLVED', causeEndedAt: world.now - minuteMs }])
  expect(channelEvents(world)).toEqual(['incident.opened'])
  world.cut(...site)
  world.pass(6 * minuteMs)
  expect(world.open).toMatchObject([{ level: 'LOCATION', occurrences: 2 }])
})

test('an outage after the end of one that a person resolved opens an incident, although a device of the first is still away [contract 10.states]', () => {
  const world = new IncidentWorld()
  const site = world.addLocation(1, 6, 1).flat()
  const [dead = '', ...others] = site
  world.cut(...site)
  world.pass(6 * minuteMs)
  world.incidents = world.incidents.map((i) => ({ ...i, state: 'RESOLVED', resolvedAt: world.now }))
  world.connect(...others)
  world.pass(hourMs)
  expect(world.openCauses).toEqual([])
  world.cut(...others)
  world.pass(6 * minuteMs)
  expect(world.openCauses).toEqual(['LOCATION 1: 5'])
  expect(world.membersOf(1).map(({ subject }) => subject.id)).toEqual([dead])
  world.connect(...site)
  world.pass(3 * minuteMs)
  expect(world.openCauses).toEqual([])
  for (const { causeEndedAt } of world.incidents) expect(causeEndedAt).not.toBeNull()
})

test('a room that fails again after a person resolved its incident is one again, although a device stayed away [contract 10.states]', () => {
  const world = new IncidentWorld()
  const [dead = '', bar = ''] = world.addRoom(1, null, 2)
  world.cut(dead, bar)
  world.pass(6 * minuteMs)
  world.incidents = world.incidents.map((i) => ({ ...i, state: 'RESOLVED', resolvedAt: world.now }))
  world.connect(bar)
  world.pass(hourMs)
  expect(world.openCauses).toEqual([])
  world.cut(bar)
  world.pass(6 * minuteMs)
  expect(world.openCauses).toEqual(['ROOM 1: 1'])
})

test('a new attempt reopens an incident of credentials that a person resolved [contract 10.states]', () => {
  const world = new IncidentWorld()
  world.addDevice('bar', null)
  const subject = { type: 'endpoint', id: 'bar' } as const
  world.observe('credential.refused', subject, 'holds', { lastAt: world.now })
  world.pass(minuteMs)
  world.incidents = world.incidents.map((i) => ({ ...i, state: 'RESOLVED', resolvedAt: world.now }))
  world.pass(minuteMs)
  expect(world.openCauses).toEqual([])
  world.observe('credential.refused', subject, 'holds', { lastAt: world.now })
  world.pass(minuteMs)
  expect(world.open).toMatchObject([{ rule: 'credential.refused', occurrences: 2 }])
})

test('only incidents of credentials are reopened by a new attempt [contract 10.states]', () => {
  const reopened = ruleIds.filter((rule) => {
    const world = new IncidentWorld()
    world.addDevice('bar', null)
    const attempt = () => world.observe(rule, { type: 'endpoint', id: 'bar' }, 'holds', { lastAt: world.now })
    attempt()
    world.pass(minuteMs)
    const { holdMs } = incidentRules[rule]
    world.pass(holdMs, holdMs)
    expect(world.open).toMatchObject([{ rule }])
    world.incidents = world.incidents.map((i) => ({ ...i, state: 'RESOLVED', resolvedAt: world.now }))
    world.pass(minuteMs)
    attempt()
    world.pass(minuteMs)
    return world.open.length > 0
  })
  expect(reopened).toEqual(['credential.refused', 'credential.shared'])
})

test('a new attempt during a silence that names the rule reopens its incident after the silence [contract 10.silence]', () => {
  const world = new IncidentWorld()
  world.addDevice('bar', null)
  const subject = { type: 'endpoint', id: 'bar' } as const
  world.observe('credential.refused', subject, 'holds', { lastAt: world.now })
  world.pass(minuteMs)
  world.incidents = world.incidents.map((i) => ({ ...i, state: 'RESOLVED', resolvedAt: world.now }))
  world.silencedUntil.set('bar', world.now + 10 * minuteMs)
  world.pass(minuteMs)
  world.observe('credential.refused', subject, 'holds', { lastAt: world.now })
  world.pass(8 * minuteMs)
  expect(world.openCauses).toEqual([])
  world.pass(2 * minuteMs)
  expect(world.open).toMatchObject([{ rule: 'credential.refused', occurrences: 2 }])
})

test('an incident of a model that a person resolved stays closed for its devices, and another device opens one [contract 10.states]', () => {
  const world = new IncidentWorld()
  for (const id of ['a', 'b', 'c']) world.addDevice(id, null)
  const observe = (id: string, state: 'holds' | 'clear') =>
    world.observe('config.undelivered', { type: 'endpoint', id }, state)
  observe('a', 'holds')
  observe('b', 'holds')
  world.pass(16 * minuteMs)
  expect(world.openCauses).toEqual(['MODEL Bar: 2'])
  world.incidents = world.incidents.map((i) => ({ ...i, state: 'RESOLVED', resolvedAt: world.now }))
  observe('b', 'clear')
  world.pass(hourMs)
  expect(world.openCauses, 'one device stays wrong').toEqual([])
  observe('c', 'holds')
  world.pass(16 * minuteMs)
  expect(world.openCauses).toEqual(['MODEL Bar: 1'])
  expect(world.membersOf(1).map(({ subject }) => subject.id)).toEqual(['a'])
  observe('b', 'holds')
  world.pass(16 * minuteMs)
  expect(world.openCauses, 'it joins the open one').toEqual(['MODEL Bar: 2'])
  expect(world.incidents).toHaveLength(2)
})

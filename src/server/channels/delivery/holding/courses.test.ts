// Generated courses of incidents, silences, failures and replays: what a receiver believes after the last message is the truth. [contract 10.delivery]
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ChannelWorld } from '../../../../../test/support/channels/channel-world.ts'
import { IncidentWorld } from '../../../../../test/support/incidents/incident-world.ts'
import { runCount } from '../../../../../test/support/long-form.ts'
import { defaultChannelEvents } from '../../../../contract/channels/messages.ts'
import { dayMs, minuteMs, secondMs } from '../../../../contract/durations.ts'
import { isOpenState } from '../../../../contract/incidents/states.ts'

const severity = fc.constantFrom('INFO' as const, 'WARNING' as const, 'CRITICAL' as const)
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('open' as const), severity }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('burst' as const),
      count: fc.integer({ min: 15, max: 30 }),
      critical: fc.nat(30),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('resolve', 'merge', 'reopen', 'acknowledge', 'comment', 'grow', 'silence'),
      which: fc.nat(60),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('severity' as const), which: fc.nat(60), severity }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail' as const), times: fc.integer({ min: 1, max: 12 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('replay' as const), from: fc.nat(60), minutes: fc.nat(60) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      ms: fc.constantFrom(
        secondMs,
        20 * secondMs,
        minuteMs,
        2 * minuteMs,
        5 * minuteMs,
        11 * minuteMs,
        7 * 60 * minuteMs,
      ),
    }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never
const courses = { short: fc.array(step, { maxLength: 40 }), long: fc.array(step, { maxLength: 80, size: 'max' }) }

const office = { days: ['mon', 'tue', 'wed', 'thu', 'fri'] as const, from: '08:00', to: '18:00' }
const channel = fc.record({
  events: fc.constantFrom(defaultChannelEvents, [...defaultChannelEvents, 'incident.changed'] as const),
  hasHours: fc.boolean(),
})

function take(world: ChannelWorld, given: Step): void {
  const ids = [...world.incidents.keys()]
  const chosen = 'which' in given ? ids[given.which % ids.length] : undefined
  const incident = chosen === undefined ? undefined : world.incidents.get(chosen)
  const isOpen = incident !== undefined && isOpenState(incident.state)
  if (given.kind === 'open') world.open(given.severity)
  if (given.kind === 'burst') {
    for (let n = 0; n < given.count; n++) world.open(n < given.critical ? 'CRITICAL' : 'WARNING')
  }
  if (given.kind === 'fail') world.failures += given.times
  if (given.kind === 'replay') {
    world.replay(world.now - given.from * minuteMs, world.now - (given.from - given.minutes) * minuteMs)
  }
  if (given.kind === 'pass') world.pass(given.ms)
  if (chosen === undefined || !incident) return
  if (given.kind === 'reopen' && !isOpen) world.reopen(chosen)
  if (given.kind === 'silence') world.silencedUntil.set(chosen, world.now + 30 * minuteMs)
  if (!isOpen) return
  if (given.kind === 'resolve') world.resolve(chosen)
  if (given.kind === 'merge') world.resolve(chosen, 'MERGED')
  if (given.kind === 'acknowledge') world.acknowledge(chosen)
  if (given.kind === 'grow') world.grow(chosen, incident.size * 4)
  if (given.kind === 'comment' && !world.isSilenced(chosen)) world.tell(chosen, 'incident.changed')
  if (given.kind === 'severity' && incident.severity !== given.severity) world.setSeverity(chosen, given.severity)
}

/** A receiver that works hears of every critical incident a minute after it opened, whatever else is sent. */
function expectNoCriticalWaits(world: ChannelWorld): void {
  if (world.hasFailed || world.failures > 0) return
  for (const { state, incident_id, sequence, created_at, type } of world.rows) {
    if (state !== 'WAITING' || sequence !== null || incident_id === null || world.isSilenced(incident_id)) continue
    const incident = world.incidents.get(incident_id)
    if (type !== 'incident.opened' || incident?.severity !== 'CRITICAL' || !isOpenState(incident.state)) continue
    // Silences are checked every minute.
    const free = Math.max(created_at, world.silencedUntil.get(incident_id) ?? 0) + minuteMs
    expect(world.now, `the opening of incident ${incident_id} waits`).toBeLessThanOrEqual(free)
  }
}

test.each([
  ['short', runCount({ short: 300, full: 3000, long: 3000 })],
  ['long', runCount({ short: 8, full: 60, long: 60 })],
] as const)(
  'after any %s course a receiver believes what is true, and each incident was first sent as an opening',
  (length, numRuns) => {
    fc.assert(
      fc.property(channel, courses[length], ({ events, hasHours }, steps) => {
        const world = new ChannelWorld(events, hasHours ? { ...office, days: [...office.days] } : undefined)
        for (const given of steps) {
          take(world, given)
          world.run()
          expectNoCriticalWaits(world)
        }
        world.failures = 0
        world.pass(4 * dayMs)
        expect(world.rows.filter(({ state }) => state === 'WAITING')).toEqual([])
        expect([...world.believedOpen].sort((a, b) => a - b)).toEqual(world.openIds)
        for (const type of world.firstHeard.values()) expect(['incident.opened', 'incident.digest']).toContain(type)
        for (const { type, state, incident_id, created_at } of world.rows) {
          if (type !== 'incident.resolved' || state !== 'DELIVERED') continue
          expect(created_at, 'an end is sent of what was sent before').toBeGreaterThanOrEqual(
            world.firstSentAt.get(incident_id as number) as number,
          )
        }
        for (const [id, { size }] of world.announced) {
          const { size: now = 0, state = 'RESOLVED' } = world.incidents.get(id) ?? {}
          if (!isOpenState(state) || now < 10 * size || world.silencedUntil.has(id)) continue
          expect(world.believedSize.get(id), `incident ${id} has grown`).toBeGreaterThanOrEqual(10 * size)
        }
        const sequences = [...new Set(world.accepted.map(({ sequence }) => sequence))].sort((a, b) => a - b)
        expect(sequences).toEqual(sequences.map((_, i) => i + 1))
      }),
      { numRuns },
    )
  },
)

/** Lets time pass for the engine of incidents, and gives the channel what the engine queues. */
function passBoth(engine: IncidentWorld, world: ChannelWorld, ms: number): void {
  for (const end = engine.now + ms; engine.now < end; ) {
    const told = engine.told.length
    engine.pass(Math.min(30 * secondMs, end - engine.now), 30 * secondMs)
    world.pass(engine.now - world.now)
    for (const { id, state, severity, openedAt, resolvedAt } of engine.incidents) {
      const times = { opened_at: openedAt, resolved_at: resolvedAt, updated_at: resolvedAt ?? openedAt, assignee: null }
      world.incidents.set(id, { state, severity, ...times, size: engine.membersOf(id).length })
      const subjects = engine.membersOf(id).map(({ subject }) => engine.silencedUntil.get(subject.id) ?? 0)
      world.silencedUntil.set(id, subjects.length > 0 ? Math.min(...subjects) : 0)
    }
    for (const { id, event } of engine.told.slice(told)) world.tell(id, event)
    world.run()
  }
}

test('devices that go and come as they like leave a receiver with the truth: merged, split, reopened and flapping incidents', () => {
  const sizes = fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 3 })), {
    minLength: 1,
    maxLength: 3,
  })
  const changes = fc.array(
    fc.record({
      devices: fc.array(fc.nat(40), { maxLength: 20 }),
      isCut: fc.boolean(),
      silenceMinutes: fc.constantFrom(0, 0, 0, 20, 90),
      failures: fc.constantFrom(0, 0, 0, 3),
      passMinutes: fc.constantFrom(0.5, 1, 3, 6, 7, 12),
    }),
    { maxLength: 20, size: 'max' },
  )
  fc.assert(
    fc.property(sizes, changes, (locations, course) => {
      const engine = new IncidentWorld()
      const world = new ChannelWorld(defaultChannelEvents)
      world.now = engine.now
      const all = locations.flatMap(([rooms, devices], i) => engine.addLocation(i + 1, rooms, devices).flat())
      for (const { devices, isCut, silenceMinutes, failures, passMinutes } of course) {
        const ids = devices.map((i) => all[i % all.length] as string)
        if (isCut) engine.cut(...ids)
        else engine.connect(...ids)
        for (const id of silenceMinutes > 0 ? ids : [])
          engine.silencedUntil.set(id, engine.now + silenceMinutes * minuteMs)
        world.failures += failures
        passBoth(engine, world, passMinutes * minuteMs)
      }
      world.failures = 0
      // An incident that flaps is sent when it was quiet for an hour.
      passBoth(engine, world, 150 * minuteMs)
      world.pass(dayMs)
      expect([...world.believedOpen].sort((a, b) => a - b)).toEqual(world.openIds)
      for (const type of world.firstHeard.values()) expect(['incident.opened', 'incident.digest']).toContain(type)
    }),
    { numRuns: runCount({ short: 20, full: 60, long: 60 }) },
  )
})

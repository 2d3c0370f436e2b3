// Tests when a unit counts as healthy, and when so many failed that the job stops.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { minuteMs } from '../../../../contract/durations.ts'
import { type RuleId, ruleIds } from '../../../../contract/incidents/rule-table.ts'
import { isOverLimit, judgeHealth, reconnectMs, type UnitHealthFacts } from './judge-health.ts'

const now = 1_800_000_000_000
const endpoint = { name: 'NF19B1 A1', state: 'ONLINE' as const, changedAt: now - 60 * minuteMs, disconnects: 0 }
const facts = (changes: Partial<UnitHealthFacts>): UnitHealthFacts => ({
  now,
  isRestarted: false,
  endpoints: [endpoint],
  incidents: [],
  locations: [{ name: 'Oslo', endpointCount: 10, offlineCount: 0, offlineInUnitCount: 0 }],
  ...changes,
})
const offline = { ...endpoint, state: 'OFFLINE' as const, changedAt: now - reconnectMs, disconnects: 1 }

test('a unit is healthy while its endpoints are connected, with one reconnect allowed [contract 12.states]', () => {
  expect(judgeHealth(facts({}))).toEqual({ state: 'healthy' })
  expect(judgeHealth(facts({ endpoints: [{ ...endpoint, disconnects: 1 }] }))).toEqual({ state: 'healthy' })
  expect(judgeHealth(facts({ endpoints: [endpoint, { ...endpoint, disconnects: 2 }] }))).toEqual({
    state: 'unhealthy',
    reason: 'NF19B1 A1 disconnected 2 times',
  })
})

test('a restart that the job asked for is not the reconnect that is allowed [contract 12.states]', () => {
  const twice = [{ ...endpoint, disconnects: 2 }]
  expect(judgeHealth(facts({ isRestarted: true, endpoints: twice })).state).toBe('healthy')
  const thrice = [{ ...endpoint, disconnects: 3 }]
  expect(judgeHealth(facts({ isRestarted: true, endpoints: thrice })).state).toBe('unhealthy')
})

test('a device that is away for the first time may come back within five minutes [contract 12.states]', () => {
  const away = { ...offline, changedAt: now - reconnectMs + 1 }
  expect(judgeHealth(facts({ endpoints: [away] }))).toEqual({
    state: 'reconnecting',
    reason: 'NF19B1 A1 is offline',
  })
  expect(judgeHealth(facts({ endpoints: [away, offline] }))).toEqual({
    state: 'unhealthy',
    reason: 'NF19B1 A1 is offline',
  })
  expect(judgeHealth(facts({ endpoints: [{ ...away, disconnects: 2 }] })).state).toBe('unhealthy')
})

test('a device that cannot be seen is waited for, however long that takes [contract 12.states]', () => {
  const hidden = { ...endpoint, state: 'UNKNOWN' as const, changedAt: now - 10 * reconnectMs }
  expect(judgeHealth(facts({ endpoints: [endpoint, hidden] }))).toEqual({
    state: 'reconnecting',
    reason: 'NF19B1 A1 cannot be seen now',
  })
  expect(judgeHealth(facts({ endpoints: [hidden, offline] })).state).toBe('unhealthy')
})

test('an incident of WARNING or worse makes a unit unhealthy, but not one of the air, the room, other devices of a gateway or a source [contract 12.states]', () => {
  const unhealthyRules = (severity: 'INFO' | 'WARNING' | 'CRITICAL') =>
    ruleIds.filter((rule) => judgeHealth(facts({ incidents: [{ id: 7, rule, severity }] })).state === 'unhealthy')
  const others: readonly RuleId[] = ['air.beyond', 'room.crowded', 'gateway.device', 'source.failing']
  const counted = ruleIds.filter((rule) => !others.includes(rule))
  expect(unhealthyRules('INFO')).toEqual([])
  expect(unhealthyRules('WARNING')).toEqual(counted)
  expect(unhealthyRules('CRITICAL')).toEqual(counted)
  const incidents = [
    { id: 6, rule: 'air.beyond', severity: 'WARNING' },
    { id: 7, rule: 'config.rejected', severity: 'WARNING' },
  ] as const
  expect(judgeHealth(facts({ incidents }))).toEqual({
    state: 'unhealthy',
    reason: 'incident 7 (config.rejected) opened',
  })
})

test('if half of a location is offline the change is not blamed, unless it is only the unit [contract 12.states]', () => {
  const at = (endpointCount: number, offlineCount: number, offlineInUnitCount: number) => [
    { name: 'Oslo', endpointCount, offlineCount, offlineInUnitCount },
  ]
  const state = (changes: Partial<UnitHealthFacts>) => judgeHealth(facts({ endpoints: [offline], ...changes })).state
  expect(judgeHealth(facts({ endpoints: [offline], locations: at(10, 5, 1) }))).toEqual({
    state: 'outage',
    reason: '5 of 10 devices of Oslo are offline',
  })
  expect(state({ locations: at(10, 4, 1) })).toBe('unhealthy')
  expect(state({ locations: at(1, 1, 1) })).toBe('unhealthy')
  expect(state({ locations: at(4, 2, 2) })).toBe('unhealthy')
  const rejected = { id: 7, rule: 'config.rejected', severity: 'WARNING' } as const
  const lost = { id: 8, rule: 'device.offline', severity: 'WARNING' } as const
  expect(state({ locations: at(10, 5, 1), incidents: [lost] })).toBe('outage')
  expect(state({ locations: at(10, 5, 1), incidents: [lost, rejected] })).toBe('unhealthy')
  expect(judgeHealth(facts({ locations: at(10, 9, 0) })).state).toBe('healthy')
})

test('while a job is paused, a device that is offline is not blamed, but other incidents are [contract 12.states]', () => {
  const state = (changes: Partial<UnitHealthFacts>) => judgeHealth(facts({ isPaused: true, ...changes })).state
  const lost = { id: 8, rule: 'device.offline', severity: 'WARNING' } as const
  expect(state({ endpoints: [offline] })).toBe('reconnecting')
  expect(state({ endpoints: [{ ...endpoint, disconnects: 3 }] })).toBe('reconnecting')
  expect(state({ incidents: [lost] })).toBe('reconnecting')
  expect(state({})).toBe('healthy')
  const excused = ruleIds.filter(
    (rule) => state({ incidents: [{ id: 9, rule, severity: 'WARNING' }] }) === 'reconnecting',
  )
  expect(excused).toEqual(['device.offline', 'device.flapping'])
  const rejected = { id: 7, rule: 'config.rejected', severity: 'WARNING' } as const
  expect(state({ endpoints: [offline], incidents: [lost, rejected] })).toBe('unhealthy')
})

test('more than the share of the units that began, and at least so many, stop a job [contract 12.states]', () => {
  const limit = { percent: 5, atLeast: 1 }
  expect(isOverLimit({ begun: 0, failed: 0 }, limit)).toBe(false)
  expect(isOverLimit({ begun: 1, failed: 1 }, limit)).toBe(true)
  expect(isOverLimit({ begun: 20, failed: 1 }, limit)).toBe(false)
  expect(isOverLimit({ begun: 19, failed: 1 }, limit)).toBe(true)
  expect(isOverLimit({ begun: 10, failed: 2 }, { percent: 5, atLeast: 3 })).toBe(false)
  expect(isOverLimit({ begun: 10, failed: 1 }, { percent: 0, atLeast: 1 })).toBe(true)
  expect(isOverLimit({ begun: 10, failed: 10 }, { percent: 100, atLeast: 1 })).toBe(false)
})

test('one more failure never lets a job go on that was stopped, and one more success never stops it', () => {
  const counts = fc.record({ begun: fc.nat(100_000), failedShare: fc.double({ min: 0, max: 1, noNaN: true }) })
  const limits = fc.record({ percent: fc.integer({ min: 0, max: 100 }), atLeast: fc.integer({ min: 1, max: 1000 }) })
  fc.assert(
    fc.property(counts, limits, ({ begun, failedShare }, limit) => {
      const failed = Math.floor(begun * failedShare)
      const over = isOverLimit({ begun, failed }, limit)
      if (over) expect(isOverLimit({ begun: begun + 1, failed: failed + 1 }, limit)).toBe(true)
      else expect(isOverLimit({ begun: begun + 1, failed }, limit)).toBe(false)
    }),
  )
})

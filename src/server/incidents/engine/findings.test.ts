// Findings against a plain recomputation, for any course of time.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { minuteMs } from '../../../contract/durations.ts'
import { type RuleId, ruleIds } from '../../../contract/incidents/rule-table.ts'
import { defaultRules } from '../incident-rules/in-force.ts'
import { advanceFindings, type FindingsInput } from './findings.ts'
import type { Finding, FindingDetail, Observation, Subject } from './types.ts'

const start = Date.UTC(2026, 4, 4, 8)
const bar: Subject = { type: 'endpoint', id: 'bar' }
const fjord: Subject = { type: 'room', id: '7' }

/** Advances the findings of a test minute by minute. */
class Course {
  findings: readonly Finding[] = []
  now = start
  input: Partial<FindingsInput> = {}

  /** Each item is a minute: what is observed then, or undefined if nothing is known. */
  run(rule: RuleId, subject: Subject, ...states: (Observation['state'] | undefined)[]) {
    const results = states.map((state) => {
      this.now += minuteMs
      return this.step(state ? [{ rule, subject, state }] : [])
    })
    return results.at(-1) as ReturnType<typeof advanceFindings>
  }

  step(observations: readonly Observation[]) {
    const advanced = advanceFindings({
      findings: this.findings,
      observations,
      observedRules: new Set(Object.keys(defaultRules) as RuleId[]),
      rules: defaultRules,
      now: this.now,
      isSilenced: () => false,
      presenceFrom: () => undefined,
      isGone: () => false,
      ...this.input,
    })
    this.findings = advanced.findings
    return advanced
  }
}
const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item)

test('a condition opens after it held long enough, and ends after its opposite did [contract 10.finding]', () => {
  const course = new Course()
  expect(course.run('air.beyond', fjord, ...times(15, 'holds' as const)).matured).toEqual([])
  const { matured } = course.run('air.beyond', fjord, 'holds')
  expect(matured).toEqual([
    {
      rule: 'air.beyond',
      subject: fjord,
      since: start + minuteMs,
      maturedAt: start + 16 * minuteMs,
      clearSince: null,
      incidentId: null,
      detail: {},
    },
  ])
  expect(course.run('air.beyond', fjord, ...times(15, 'clear' as const)).ended).toEqual([])
  expect(course.run('air.beyond', fjord, 'clear').ended).toMatchObject([{ reason: 'cleared' }])
  expect(course.findings).toEqual([])
})

test('a break restarts the count in both directions; a value between opens nothing and ends nothing', () => {
  const course = new Course()
  expect(course.run('air.beyond', fjord, ...times(10, 'holds' as const), 'between').ended).toHaveLength(1)
  expect(course.run('air.beyond', fjord, ...times(15, 'holds' as const)).matured).toEqual([])
  expect(course.run('air.beyond', fjord, 'holds').matured).toHaveLength(1)
  course.run('air.beyond', fjord, ...times(10, 'clear' as const), 'between', ...times(15, 'clear' as const))
  expect(course.findings).toHaveLength(1)
  expect(course.run('air.beyond', fjord, 'clear').ended).toHaveLength(1)
})

test('a finding that does not change is not written again', () => {
  const course = new Course()
  expect(course.run('storage.low', bar, 'holds').changed).toHaveLength(1)
  expect(course.run('storage.low', bar, 'holds', 'holds').changed).toEqual([])
  expect(course.run('storage.low', bar, undefined).changed).toHaveLength(1)
  expect(course.run('storage.low', bar, undefined, undefined).changed).toEqual([])
})

test('during a silence nothing matures; what is still true at its end matures from then', () => {
  const course = new Course()
  course.run('config.rejected', bar, 'holds')
  course.input = { isSilenced: (rule) => rule === 'config.rejected' }
  course.run('config.rejected', bar, ...times(30, 'holds' as const))
  expect(course.findings).toMatchObject([{ since: start + minuteMs, maturedAt: null }])
  course.input = {}
  expect(course.run('config.rejected', bar, 'holds').matured).toEqual([])
  expect(course.run('config.rejected', bar, 'holds').matured).toMatchObject([{ since: start + minuteMs, detail: {} }])
})

test('a matured finding stays as it is when a silence begins', () => {
  const course = new Course()
  course.run('config.rejected', bar, 'holds', 'holds')
  const before = course.findings
  course.input = { isSilenced: () => true }
  expect(course.run('config.rejected', bar, 'holds').changed).toEqual([])
  expect(course.findings).toEqual(before)
  expect(course.run('config.rejected', bar, 'clear').ended).toHaveLength(1)
})

test('a finding ends when its rule is switched off, and when its subject is gone', () => {
  for (const [input, reason] of [
    [{ rules: { ...defaultRules, 'storage.low': { ...defaultRules['storage.low'], isEnabled: false } } }, 'disabled'],
    [{ isGone: ({ subject }: Finding) => subject.id === 'bar' }, 'gone'],
  ] as const) {
    const course = new Course()
    course.run('storage.low', bar, 'holds')
    course.input = input
    expect(course.run('storage.low', bar, 'holds').ended).toMatchObject([{ reason }])
    expect(course.findings).toEqual([])
  }
})

test('offline time before the service had settled does not count [contract 10.start]', () => {
  const course = new Course()
  course.input = { presenceFrom: ({ id }) => (id === 'bar' ? start + 10 * minuteMs : undefined) }
  const offline = (id: string): Observation => ({
    rule: 'device.offline',
    subject: { type: 'endpoint', id },
    state: 'holds',
    since: start - 60 * minuteMs,
  })
  expect(course.step([offline('bar'), offline('pad')]).matured).toMatchObject([{ subject: { id: 'pad' } }])
  course.now = start + 15 * minuteMs - 1
  expect(course.step([offline('bar')]).matured).toEqual([])
  course.now++
  expect(course.step([offline('bar')]).matured).toMatchObject([{ subject: bar, since: start - 60 * minuteMs }])
})

test('a device that flaps while the service settles matures when that is over [contract 10.start]', () => {
  const course = new Course()
  course.input = { presenceFrom: () => start + 10 * minuteMs }
  const flapping: Observation = { rule: 'device.flapping', subject: bar, state: 'holds' }
  expect(course.step([flapping]).matured).toEqual([])
  course.now = start + 10 * minuteMs - 1
  expect(course.step([flapping]).matured).toEqual([])
  course.now++
  expect(course.step([flapping]).matured).toMatchObject([{ rule: 'device.flapping', subject: bar }])
})

test('only rules about connections wait until the service has settled after a start [contract 10.start]', () => {
  const waiting = ruleIds.filter((rule) => {
    const course = new Course()
    course.input = { presenceFrom: () => start + 60 * minuteMs }
    const since = start - defaultRules[rule].holdMs
    return course.step([{ rule, subject: bar, state: 'holds', since }]).matured.length === 0
  })
  expect(waiting).toEqual(['device.offline', 'device.flapping'])
})

test('the detail is that of the last observation, and what findings.ts keeps in it survives', () => {
  const course = new Course()
  const observe = (detail?: FindingDetail) =>
    course.step([{ rule: 'config.rejected', subject: bar, state: 'holds', ...(detail && { detail }) }])
  observe({ keys: ['timezone'] })
  course.input = { isSilenced: () => true }
  observe({ keys: ['language'] })
  expect(course.findings[0]?.detail).toEqual({ keys: ['language'], silenced: true })
  observe()
  expect(course.findings[0]?.detail).toEqual({ keys: ['language'], silenced: true })
})

test('a run that did not ask about a rule changes nothing about its findings', () => {
  const course = new Course()
  course.run('air.beyond', fjord, ...times(16, 'holds' as const), ...times(10, 'clear' as const))
  course.input = { observedRules: new Set() }
  expect(course.run('air.beyond', fjord, undefined).changed).toEqual([])
  expect(course.findings[0]?.clearSince).not.toBeNull()
})

test('time in which the service was down counts neither for a condition nor for its opposite [contract 10.finding]', () => {
  const course = new Course()
  const restart = (downMinutes: number) => {
    course.input = { downSince: course.now }
    course.now += downMinutes * minuteMs
  }
  const holds = () => {
    const advanced = course.run('air.beyond', fjord, 'holds')
    course.input = {}
    return advanced
  }
  course.run('air.beyond', fjord, ...times(6, 'holds' as const))
  restart(20)
  expect(holds().matured).toEqual([])
  expect(course.run('air.beyond', fjord, ...times(9, 'holds' as const)).matured).toEqual([])
  expect(course.run('air.beyond', fjord, 'holds').matured).toHaveLength(1)
  course.run('air.beyond', fjord, ...times(10, 'clear' as const))
  restart(20)
  course.run('air.beyond', fjord, 'clear')
  course.input = {}
  expect(course.run('air.beyond', fjord, ...times(14, 'clear' as const)).ended).toEqual([])
  expect(course.run('air.beyond', fjord, 'clear').ended).toHaveLength(1)
})

test('time in which the service was down counts for conditions whose start is stored [contract 10.rule]', () => {
  const paused = ruleIds.filter((rule) => {
    const course = new Course()
    course.input = { isSilenced: () => true }
    course.run(rule, bar, 'holds')
    course.input = { observedRules: new Set(), downSince: course.now }
    return course.run(rule, bar, undefined).changed.length > 0
  })
  expect(paused).toEqual([
    'air.beyond',
    'room.crowded',
    'storage.low',
    'device.fault',
    'peripheral.missing',
    'firmware.behind',
    'clock.unreachable',
  ])
})

test('a condition that is unknown after the service was down is written, and counts from its next observation', () => {
  const course = new Course()
  course.run('storage.low', bar, ...times(11, 'holds' as const))
  course.input = { downSince: course.now }
  course.now += 60 * minuteMs
  expect(course.run('storage.low', bar, undefined).changed).toHaveLength(1)
  course.input = {}
  course.run('storage.low', bar, 'holds')
  expect(course.run('storage.low', bar, ...times(19, 'holds' as const)).matured).toEqual([])
  expect(course.run('storage.low', bar, 'holds').matured).toHaveLength(1)
})

const state = fc.constantFrom<Observation['state'] | undefined>(
  'holds',
  'holds',
  'holds',
  'clear',
  'between',
  undefined,
)
const minute = fc.record({ state, silenced: fc.boolean(), repeated: fc.integer({ min: 1, max: 20 }) })

test('for any course of minutes, a finding matures and ends as if its minutes were counted one by one', () => {
  const hold = defaultRules['air.beyond'].holdMs / minuteMs
  const clear = defaultRules['air.beyond'].clearMs / minuteMs
  fc.assert(
    fc.property(fc.array(minute, { maxLength: 40 }), (periods) => {
      const course = new Course()
      let isSilencedNow = false
      course.input = { isSilenced: () => isSilencedNow }
      let [held, cleared] = [-1, -1]
      let [isMature, wasSilenced, before] = [false, false, undefined as Observation['state'] | undefined]
      for (const { state, silenced, repeated } of periods) {
        for (let i = 0; i < repeated; i++) {
          isSilencedNow = silenced
          course.run('air.beyond', fjord, state)
          // The plain count: minutes since the condition began, or its opposite, without those of which nothing is known.
          if (!isMature) {
            if (state === 'clear' || state === 'between') [held, wasSilenced] = [-1, false]
            else if (state === undefined) held += held >= 0 && before === 'holds' ? 1 : 0
            else if (silenced) [held, wasSilenced] = [0, true]
            else if (held < 0 || wasSilenced) [held, wasSilenced] = [0, false]
            else held += before === 'holds' ? 1 : 0
            if (state === 'holds' && !silenced && held >= hold) [isMature, cleared] = [true, -1]
          } else {
            cleared = state === 'clear' ? cleared + 1 : -1
            if (cleared >= clear) [isMature, held] = [false, -1]
          }
          before = state
          expect(course.findings.map((f) => f.maturedAt !== null)).toEqual(isMature ? [true] : held >= 0 ? [false] : [])
        }
      }
    }),
  )
})

test('for any connects and disconnects, a device is offline after 5 minutes without and online after 2 with a connection', () => {
  const { holdMs, clearMs } = defaultRules['device.offline']
  const span = fc.integer({ min: 1, max: 400 })
  const pause = fc.integer({ min: 1, max: 90 })
  fc.assert(
    fc.property(fc.array(span, { minLength: 1, maxLength: 30 }), fc.infiniteStream(pause), (spans, pauses) => {
      const course = new Course()
      let [at, isConnected] = [start, true]
      const changes = spans.map((seconds) => {
        at += seconds * 1000
        isConnected = !isConnected
        return { since: at, isConnected }
      })
      let isMature = false
      for (const seconds of pauses) {
        course.now += seconds * 1000
        if (course.now > at + 600_000) break
        const last = changes.findLast(({ since }) => since <= course.now) ?? { since: start, isConnected: true }
        const length = course.now - last.since
        course.step([
          {
            rule: 'device.offline',
            subject: bar,
            state: last.isConnected ? 'clear' : 'holds',
            since: last.since,
          },
        ])
        if (isMature ? last.isConnected && length >= clearMs : !last.isConnected && length >= holdMs) {
          isMature = !isMature
        }
        expect(course.findings.some((f) => f.maturedAt !== null)).toBe(isMature)
      }
    }),
  )
})

// Which peripherals of a device count as missing. [contract 10.rule]
import { expect, test } from 'vitest'
import { dayMs, hourMs, minuteMs } from '../../../../contract/durations.ts'
import type { Finding } from '../types.ts'
import { KnownPeripherals, type ReportedPeripheral } from './known-peripherals.ts'
import { observePeripherals } from './peripherals.ts'

const limits = { connectedMs: hourMs, rememberedMs: 7 * dayMs }
const camera = (connected = true): ReportedPeripheral => ({ id: 'cam', name: 'Quad', kind: 'CAMERA', connected })
const finding: Finding = {
  rule: 'peripheral.missing',
  subject: { type: 'endpoint', id: 'a', part: 'cam' },
  since: 0,
  maturedAt: 1,
  clearSince: null,
  incidentId: 1,
  detail: {},
}

class Checks {
  readonly #memory = new KnownPeripherals()
  #now = 0
  /** How often a row was written. */
  writes = 0
  /** The ids of what is stored. */
  stored: readonly string[] = []

  /** Checks a device every minute. Undefined stands for a device that is not connected. */
  minutes(count: number, reported: readonly ReportedPeripheral[] | undefined): this {
    for (let i = 0; i < count; i++) {
      this.#now += minuteMs
      this.#memory.startCheck(this.#now)
      if (reported) this.#memory.note('a', reported, limits)
      for (const { peripherals } of this.#memory.listChanges(() => true)) {
        this.writes++
        this.stored = JSON.parse(peripherals).map(({ id }: ReportedPeripheral) => id)
      }
    }
    return this
  }

  deleteEndpoint(): void {
    this.#memory.listChanges(() => false)
  }
}

test('a peripheral is known after an hour without a break; time without its device does not count', () => {
  const steady = new Checks().minutes(60, [camera()])
  expect(steady.stored, 'the first check starts the hour').toEqual([])
  expect(steady.minutes(1, [camera()]).stored).toEqual(['cam'])

  const apart = new Checks()
  for (let i = 0; i < 3; i++) apart.minutes(1, [camera(false)]).minutes(50, [camera()])
  expect(apart.stored, 'a break starts the hour again').toEqual([])

  const away = new Checks().minutes(31, [camera()]).minutes(600, undefined).minutes(30, [camera()])
  expect(away.stored, 'the device was away for 10 hours').toEqual([])
  expect(away.minutes(1, [camera()]).stored).toEqual(['cam'])
})

test('a peripheral that was not connected for 7 days is forgotten', () => {
  const checks = new Checks().minutes(120, [camera()]).minutes(7 * 1440, [])
  expect(checks.stored).toEqual(['cam'])
  expect(checks.minutes(1, []).stored).toEqual([])
})

test('it is stored when it is known, once a day while it is connected, and when it goes missing', () => {
  const checks = new Checks()
  expect(checks.minutes(60, [camera()]).writes).toBe(0)
  expect(checks.minutes(1, [camera()]).writes).toBe(1)
  expect(checks.minutes(1440, [camera()]).writes).toBe(1)
  expect(checks.minutes(1, [{ ...camera(), name: 'Renamed' }]).writes).toBe(2)
  expect(checks.minutes(60, [{ ...camera(), name: 'Renamed again' }]).writes).toBe(2)
  expect(checks.minutes(60, [camera(false)]).writes).toBe(3)
})

test('a device that invents ids is remembered with at most 64 of them, and a deleted one not at all', () => {
  const checks = new Checks()
  for (let i = 0; i < 4; i++) {
    checks.minutes(
      120,
      Array.from({ length: 32 }, (_, j) => ({ ...camera(), id: `${i} ${j}` })),
    )
  }
  expect(checks.stored).toHaveLength(64)
  expect(checks.stored.every((id) => /^[23] /.test(id))).toBe(true)
  checks.deleteEndpoint()
  const { writes } = checks
  expect(checks.minutes(10, []).writes).toBe(writes)
})

test('a peripheral that the device has had and does not report as connected is missing', () => {
  const known = [{ id: 'cam', name: 'Quad', kind: 'CAMERA' as const, connectedAt: 5 }]
  const states = (reported: readonly ReportedPeripheral[] | undefined, had = known, findings = [finding]) =>
    observePeripherals('a', reported, had, findings).map(({ subject, state }) => `${subject.part} ${state}`)
  expect(observePeripherals('a', [camera(false)], known, [])).toEqual([
    {
      rule: 'peripheral.missing',
      subject: { type: 'endpoint', id: 'a', part: 'cam' },
      state: 'holds',
      detail: { peripherals: [{ name: 'Quad', kind: 'CAMERA' }] },
    },
  ])
  expect(states([])).toEqual(['cam holds'])
  expect(states([camera()])).toEqual(['cam clear'])
  expect(states([camera()], known, [])).toEqual([])
  expect(states([], []), 'forgotten').toEqual(['cam between'])
  expect(states(undefined), 'it no longer reports peripherals').toEqual(['cam clear'])
})

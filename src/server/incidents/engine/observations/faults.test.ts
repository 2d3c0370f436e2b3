// Which of the faults that a device reports count. [contract 10.rule]
import { expect, test } from 'vitest'
import type { Finding } from '../types.ts'
import { maxFaultsPerDevice, observeFaults, type ReportedFault } from './faults.ts'

const now = 1_000_000
const fault = (code: string, level: ReportedFault['level'] = 'WARNING'): ReportedFault => ({ code, level, text: code })
const finding = (part: string, since: number, detail: Finding['detail'] = {}): Finding => ({
  rule: 'device.fault',
  subject: { type: 'endpoint', id: 'a', part },
  since,
  maturedAt: since,
  clearSince: null,
  incidentId: 1,
  detail,
})
const states = (reported: readonly ReportedFault[], known: readonly Finding[] = []) =>
  observeFaults('a', reported, known, now).map(({ subject, state }) => `${subject.part} ${state}`)

test('each code has an observation of its own, with its text and its level', () => {
  expect(observeFaults('a', [fault('fan', 'CRITICAL'), fault('lamp'), fault('door', 'INFO')], [], now)).toEqual([
    {
      rule: 'device.fault',
      subject: { type: 'endpoint', id: 'a', part: 'fan' },
      state: 'holds',
      detail: { fault: { code: 'fan', text: 'fan' }, severity: 'CRITICAL' },
    },
    {
      rule: 'device.fault',
      subject: { type: 'endpoint', id: 'a', part: 'lamp' },
      state: 'holds',
      detail: { fault: { code: 'lamp', text: 'lamp' } },
    },
  ])
})

test('a fault that is gone, or only INFO now, is clear', () => {
  expect(states([fault('lamp', 'INFO')], [finding('lamp', 1), finding('fan', 2)])).toEqual(['lamp clear', 'fan clear'])
})

test('a fault that is gone keeps its place until it ends, unless a worse one needs it', () => {
  const old = ['1', '2', '3', '4', '5'].map((part, i) => finding(part, i))
  expect(states([fault('new')], old)).toEqual(old.map(({ subject }) => `${subject.part} clear`))
  const worse = observeFaults('a', [fault('new', 'CRITICAL')], old, now)
  expect(worse[0]).toMatchObject({ subject: { part: 'new' }, state: 'holds' })
  expect(worse.at(-1), 'it ends immediately').toMatchObject({ subject: { part: '5' }, state: 'clear', since: 0 })
  expect(worse.filter(({ since }) => since !== 0)).toHaveLength(maxFaultsPerDevice)
})

test('findings of other rules about the device do not count', () => {
  expect(states([], [{ ...finding('camera', 1), rule: 'storage.low' }])).toEqual([])
})

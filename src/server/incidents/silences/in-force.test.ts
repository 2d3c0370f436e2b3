// Tests which rules, places and times a silence covers. [contract 10.silence]
import { expect, test } from 'vitest'
import { ruleIds } from '../../../contract/incidents/rule-table.ts'
import { isSilenced, type Silence } from './in-force.ts'

const place = { endpointId: 'e', roomId: 1, locationId: 2, regionId: 3, timezone: 'Europe/Oslo' }
const always: Silence = {
  id: 1,
  placeType: 'all',
  placeId: '',
  rules: undefined,
  since: 0,
  until: null,
  weekly: undefined,
}

test('a silence covers its place and what is in it, and nothing else', () => {
  const isCovered = (placeType: Silence['placeType'], placeId: string, where: Partial<typeof place> = {}) =>
    isSilenced([{ ...always, placeType, placeId }], { ...place, ...where }, 'device.offline', 5)
  expect(isCovered('all', '')).toBe(true)
  expect(isCovered('region', '3')).toBe(true)
  expect(isCovered('location', '2')).toBe(true)
  expect(isCovered('room', '1')).toBe(true)
  expect(isCovered('endpoint', 'e')).toBe(true)
  expect(isCovered('region', '1')).toBe(false)
  expect(isCovered('location', '3')).toBe(false)
  expect(isCovered('room', '2')).toBe(false)
  expect(isCovered('endpoint', 'f')).toBe(false)
  const nowhere = { timezone: 'UTC', roomId: null }
  expect(isSilenced([{ ...always, placeType: 'room', placeId: 'null' }], nowhere, 'device.offline', 5)).toBe(false)
  expect(isSilenced([always], nowhere, 'device.offline', 5)).toBe(true)
  expect(isSilenced([], place, 'device.offline', 5)).toBe(false)
})

test('a silence without rules covers all rules but those about security, and one with rules covers exactly these', () => {
  const covered = ruleIds.filter((rule) => isSilenced([always], place, rule, 5))
  const aboutSecurity = ['credential.refused', 'credential.shared', 'certificate.expiring', 'channel.failing']
  expect(covered).toEqual(ruleIds.filter((rule) => !aboutSecurity.includes(rule)))
  const named: Silence = { ...always, rules: new Set(['credential.shared', 'air.beyond'] as const) }
  expect(ruleIds.filter((rule) => isSilenced([named], place, rule, 5))).toEqual(['air.beyond', 'credential.shared'])
})

test('a silence begins with its first millisecond and ends before its last, and its weekly hours are within these', () => {
  const at = Date.parse('2026-05-04T12:00:00Z')
  const isCovered = (silence: Partial<Silence>, time: number) =>
    isSilenced([{ ...always, ...silence }], place, 'device.offline', time)
  const span = { since: at, until: at + 1000 }
  expect([at - 1, at, at + 999, at + 1000].map((time) => isCovered(span, time))).toEqual([false, true, true, false])
  // 12:00 UTC is 14:00 in Oslo, on a Monday.
  const weekly = { days: ['mon' as const], from: '13:30', to: '14:30' }
  expect(isCovered({ weekly }, at)).toBe(true)
  expect(isCovered({ weekly: { ...weekly, days: ['tue'] } }, at)).toBe(false)
  expect(isCovered({ weekly, until: at }, at)).toBe(false)
  expect(isSilenced([{ ...always, weekly }], { ...place, timezone: 'UTC' }, 'device.offline', at)).toBe(false)
})

// Tests which locations a choice for many of them changes, and how it is taken back.
import { expect, test } from 'vitest'
import type { WeeklyHours } from '../../../../contract/weekly-hours.ts'
import { hasValues, siteChanges, takenBack } from './location-changes.ts'

const nights: WeeklyHours = { days: ['mon', 'tue'], from: '20:00', to: '05:00' }
const oslo = { id: 1, name: 'Oslo', changeWindow: nights, timezone: 'Europe/Oslo' }
const bergen: { id: number; name: string; timezone?: string } = { id: 2, name: 'Bergen' }

test('only locations that differ are changed, and only in the values that differ', () => {
  expect(siteChanges([oslo, bergen], { changeWindow: nights })).toEqual([
    { id: 2, name: 'Bergen', before: { changeWindow: null }, after: { changeWindow: nights } },
  ])
  expect(siteChanges([oslo, bergen], { changeWindow: nights, timezone: null })).toEqual([
    { id: 1, name: 'Oslo', before: { timezone: 'Europe/Oslo' }, after: { timezone: null } },
    { id: 2, name: 'Bergen', before: { changeWindow: null }, after: { changeWindow: nights } },
  ])
})

test('a choice that keeps everything changes nothing', () => {
  expect(siteChanges([oslo, bergen], {})).toEqual([])
})

test('a location is left alone if another person has set one of the values that change, and only then', () => {
  const [change] = siteChanges([oslo], { changeWindow: null })
  const before = change?.before ?? {}
  expect(hasValues(oslo, before)).toBe(true)
  expect(hasValues({ ...oslo, timezone: 'UTC' }, before), 'a value that does not change').toBe(true)
  expect(hasValues({ ...oslo, changeWindow: { ...nights, from: '21:00' } }, before)).toBe(false)
  expect(hasValues({ timezone: 'Europe/Oslo' }, before), 'removed').toBe(false)
  expect(hasValues(bergen, { changeWindow: null, timezone: null })).toBe(true)
  expect(hasValues({ ...bergen, timezone: 'UTC' }, { timezone: null })).toBe(false)
})

test('days in another order are the same change window', () => {
  const chosen: WeeklyHours = { ...nights, days: ['tue', 'mon'] }
  expect(hasValues(oslo, { changeWindow: chosen })).toBe(true)
  expect(siteChanges([oslo], { changeWindow: chosen })).toEqual([])
})

test('the changes can be taken back', () => {
  const changes = siteChanges([oslo], { changeWindow: null, timezone: 'UTC' })
  expect(takenBack(changes)).toEqual([
    {
      ...{ id: 1, name: 'Oslo', before: { changeWindow: null, timezone: 'UTC' } },
      after: { changeWindow: nights, timezone: 'Europe/Oslo' },
    },
  ])
})

// Tests which locations a choice for many of them changes, and how it is taken back.
import { expect, test } from 'vitest'
import type { WeeklyHours } from '../../../../contract/weekly-hours.ts'
import { siteChanges, takenBack } from './location-changes.ts'

const nights: WeeklyHours = { days: ['mon', 'tue'], from: '20:00', to: '05:00' }
const oslo = { id: 1, name: 'Oslo', changeWindow: nights, timezone: 'Europe/Oslo' }
const bergen = { id: 2, name: 'Bergen' }

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

test('the changes can be taken back', () => {
  const changes = siteChanges([oslo], { changeWindow: null, timezone: 'UTC' })
  expect(takenBack(changes)).toEqual([
    {
      ...{ id: 1, name: 'Oslo', before: { changeWindow: null, timezone: 'UTC' } },
      after: { changeWindow: nights, timezone: 'Europe/Oslo' },
    },
  ])
})

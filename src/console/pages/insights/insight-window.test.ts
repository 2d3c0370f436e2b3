// Tests which window an address names.
import { expect, test } from 'vitest'
import { todayIn } from '../../domain/reports/report-days.ts'
import { insightWindowOf, windowMonths } from './insight-window.ts'

const today = '2026-01-05'

test('the window is the month before unless the address names a valid one', () => {
  const december = { choice: '2025-12', from: '2025-12-01', to: '2026-01-01', title: 'December 2025' }
  expect(insightWindowOf({}, today)).toEqual(december)
  for (const month of ['2025-13', 'December', '2025-12-01', ''])
    expect(insightWindowOf({ month }, today)).toEqual(december)
  expect(insightWindowOf({ from: '2026-01-04', to: '2026-01-03' }, today)).toEqual(december)
  expect(insightWindowOf({ from: '2026-02-30', to: 'x' }, today)).toEqual(december)
  expect(insightWindowOf({ month: '2024-02' }, today)).toMatchObject({ from: '2024-02-01', to: '2024-03-01' })
})

test('an organisation that was made in the present month has nothing before, so its window is this month so far', () => {
  const soFar = { choice: '2026-01', title: 'January 2026 so far' }
  for (const since of ['2026-01-01', today]) expect(insightWindowOf({}, today, since)).toMatchObject(soFar)
  for (const since of ['2025-12-31', '2020-01-01'])
    expect(insightWindowOf({}, today, since)).toMatchObject({ choice: '2025-12' })
  expect(insightWindowOf({ month: '2025-12' }, today, today)).toMatchObject({ choice: '2025-12' })
})

test('the present month has no end, and days include the last one', () => {
  expect(insightWindowOf({ month: '2026-01' }, today)).toEqual({
    ...{ choice: '2026-01', from: '2026-01-01', to: undefined, title: 'January 2026 so far' },
  })
  expect(insightWindowOf({ from: '2025-12-30', to: '2025-12-31' }, today)).toEqual({
    ...{ choice: 'days', from: '2025-12-30', to: '2026-01-01', title: '30 Dec 2025 to 31 Dec 2025' },
  })
  expect(insightWindowOf({ from: '2025-12-30', to: today }, today).to).toBeUndefined()
})

test('thirteen months can be chosen, also across the end of a year', () => {
  const months = windowMonths(today)
  expect(months).toHaveLength(13)
  expect(months.slice(0, 2)).toEqual([
    { value: '2026-01', label: 'January 2026 so far' },
    { value: '2025-12', label: 'December 2025' },
  ])
  expect(months.at(-1)?.value).toBe('2025-01')
  expect(todayIn('Asia/Tokyo', Date.UTC(2026, 0, 4, 20))).toBe('2026-01-05')
})

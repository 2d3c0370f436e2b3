// Tests which window the days of an address are.
import { expect, test } from 'vitest'
import { openedPeriodOf } from './opened-period.ts'

test('days are midnights of the organisation, and the last one is a part of the period', () => {
  expect(openedPeriodOf({ from: '2026-10-01', to: '2026-10-31' }, 'Europe/Oslo')).toEqual({
    title: 'October 2026',
    window: { from: Date.UTC(2026, 8, 30, 22), to: Date.UTC(2026, 9, 31, 23) },
  })
  expect(openedPeriodOf({ from: '2026-10-05', to: '2026-10-05' }, 'UTC')).toEqual({
    title: '5 Oct 2026',
    window: { from: Date.UTC(2026, 9, 5), to: Date.UTC(2026, 9, 6) },
  })
  expect(openedPeriodOf({ from: '2026-11-01' }, 'UTC')).toEqual({
    title: 'since 1 Nov 2026',
    window: { from: Date.UTC(2026, 10, 1) },
  })
})

test('days that are not valid are no filter', () => {
  for (const days of [{}, { to: '2026-10-05' }, { from: 'x' }, { from: '2026-10-05', to: '2026-10-04' }])
    expect(openedPeriodOf(days, 'UTC')).toBeUndefined()
})

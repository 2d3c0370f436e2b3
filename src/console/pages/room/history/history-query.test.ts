// Tests which window and which buckets the address of a room's history means.
import { expect, test } from 'vitest'
import { historyPeriodOf } from './history-query.ts'

const zones = { zone: 'Europe/Oslo', ofOrg: 'America/New_York' }
const now = Date.UTC(2026, 10, 19, 12) / 1000

test('without a valid choice the period is the last day', () => {
  for (const address of [{}, { span: 'x' }, { from: '2026-10-02', to: '2026-10-01' }, { from: '2026-10-01' }]) {
    const period = historyPeriodOf(address, zones)
    expect([period.id, period.interval, period.windowAt(now)]).toEqual(['day', '5m', { from: now - 86_400, to: now }])
  }
})

test('three years are days on the clock of the organisation, because older ones are kept on that clock only', () => {
  expect(historyPeriodOf({ span: '3-years' }, zones)).toMatchObject({ interval: '1d', zone: 'America/New_York' })
  expect(historyPeriodOf({ span: '3-years' }, zones).windowAt(now).from).toBe(now - 3 * 365 * 86_400)
  expect(historyPeriodOf({ span: 'year' }, zones)).toMatchObject({ interval: '1d', zone: 'Europe/Oslo' })
})

test('chosen days are midnights of the room and end now at the latest; the more days, the longer the buckets', () => {
  const october = historyPeriodOf({ span: 'week', from: '2026-10-01', to: '2026-10-31' }, zones)
  expect(october).toMatchObject({ span: undefined, title: 'October 2026', interval: '1h', zone: 'Europe/Oslo' })
  const [from, to] = [Date.UTC(2026, 8, 30, 22) / 1000, Date.UTC(2026, 9, 31, 23) / 1000]
  expect(october.windowAt(now)).toEqual({ from, to })
  expect(historyPeriodOf({ from: '2026-11-01', to: '2026-11-30' }, zones).windowAt(now).to).toBe(now)
  const intervals = ['2026-10-01', '2026-10-14', '2026-10-31', '2027-01-31'].map(
    (last) => historyPeriodOf({ from: '2026-10-01', to: last }, zones).interval,
  )
  expect(intervals).toEqual(['15m', '15m', '1h', '1d'])
})

// Tests that missing buckets stay gaps, and that merging counts every sample.
import { expect, test } from 'vitest'
import { chartLines, type HistoryBucket, mergeStatistics, summaryOf } from './buckets.ts'

const at = (minute: number, co2?: number): HistoryBucket => ({
  start: new Date(minute * 60_000).toISOString(),
  ...(co2 !== undefined && { co2: { min: co2 - 10, max: co2 + 20, mean: co2, count: 3 } }),
})

const span = { from: 290, to: 1500, stepSeconds: 300, zone: 'UTC' }

test('the whole span is there, and a bucket that is missing is a gap', () => {
  expect(chartLines([at(5, 410), at(20, 420)], 'co2', span)).toEqual([
    [0, 300, 600, 900, 1200],
    [null, 430, null, null, 440],
    [null, 400, null, null, 410],
    [null, 410, null, null, 420],
  ])
})

test('buckets of a day begin at midnight of the zone, also when clocks change', () => {
  const [from, to] = [Date.UTC(2026, 9, 24, 12) / 1000, Date.UTC(2026, 9, 26, 12) / 1000]
  const midnights = ['2026-10-24T00:00+02:00', '2026-10-25T00:00+02:00', '2026-10-26T00:00+01:00']
  const days = { from, to, stepSeconds: 86_400, zone: 'Europe/Oslo' }
  const bucket = at(Date.parse(midnights[2] as string) / 60_000, 500)
  const [times, , , mean] = chartLines([bucket], 'co2', days)
  expect(times).toEqual(midnights.map((text) => Date.parse(text) / 1000))
  expect(mean).toEqual([null, null, 500])
})

test('a bucket without a value of this sensor is a gap of this sensor', () => {
  expect(chartLines([at(0, 400), at(5), at(10, 420)], 'co2', span)[3]).toEqual([400, null, 420, null, null])
})

test('the summary has the least and largest of all samples, and the latest mean that there is', () => {
  expect(summaryOf([at(0, 500), at(5, 400), at(10)], 'co2')).toEqual({ least: 390, largest: 520, latest: 400 })
  expect(summaryOf([at(0)], 'co2')).toBeUndefined()
})

test('joined buckets have the mean of all samples, not the mean of means', () => {
  const [one, many] = [
    { min: 1, max: 1, mean: 1, count: 1 },
    { min: 4, max: 6, mean: 5, count: 3 },
  ]
  expect(mergeStatistics([one, many])).toEqual({ min: 1, max: 6, mean: 4, count: 4 })
  expect(mergeStatistics([])).toBeUndefined()
})

// Checks that the table and the CSV of a history lose no sample and invent none.
import { expect, test } from 'vitest'
import type { HistoryBucket } from '../../../parts/chart/buckets.ts'
import { viewerTimeZone } from '../../../parts/text/time.tsx'
import { historyCsv } from './history-csv.ts'
import { historyRows } from './history-rows.ts'

const at = (hour: number, minute: number, co2?: number): HistoryBucket => ({
  start: new Date(2026, 4, 4, hour, minute).toISOString(),
  ...(co2 !== undefined && { co2: { min: co2, max: co2, mean: co2, count: 1 } }),
})

test('rows hold the hours of the room, the newest first, with all samples of each', () => {
  const rows = historyRows([at(8, 0, 400), at(8, 55, 600), at(10, 5, 700)], ['co2', 'temp'], 1, viewerTimeZone)
  expect(rows.map((row) => row.at)).toEqual([new Date(2026, 4, 4, 10).getTime(), new Date(2026, 4, 4, 8).getTime()])
  expect(rows[1]?.values.get('co2')).toEqual({ min: 400, max: 600, mean: 500, count: 2 })
  expect(rows[1]?.values.has('temp')).toBe(false)
})

test('rows of a day begin at its midnight', () => {
  const rows = historyRows([at(8, 0, 400), at(23, 55, 600)], ['co2'], 24, viewerTimeZone)
  expect(rows.map((row) => row.at)).toEqual([new Date(2026, 4, 4).getTime()])
})

test('a value that was not measured is empty in the CSV, not 0', () => {
  expect(historyCsv([at(8, 0, 400), at(8, 5)], ['co2'])).toBe(
    `start,co2_min,co2_max,co2_mean,co2_count\r\n${at(8, 0).start},400,400,400,1\r\n${at(8, 5).start},,,,\r\n`,
  )
})

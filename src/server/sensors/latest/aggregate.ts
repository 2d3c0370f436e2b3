// Computes the sample of a room from the latest samples of its endpoints. [contract 5.2.aggregate]
import type { SampleRow } from '../ingest/store.ts'

/** A value that no endpoint has is null, not 0. Without samples the result is undefined. */
export function aggregate(rows: readonly SampleRow[]): SampleRow | undefined {
  if (rows.length === 0) return undefined
  const mean = (column: keyof SampleRow) => {
    let [sum, count] = [0, 0]
    for (const row of rows) {
      const value = row[column]
      if (value === null) continue
      sum += value
      count++
    }
    return count === 0 ? null : Math.round(sum / count)
  }
  const max = (column: keyof SampleRow) => {
    let greatest: number | null = null
    for (const row of rows) {
      const value = row[column]
      if (value !== null && (greatest === null || value > greatest)) greatest = value
    }
    return greatest
  }
  return {
    timestamp: max('timestamp') as number,
    co2: mean('co2'),
    humidity: mean('humidity'),
    illumination: mean('illumination'),
    people: max('people'),
    temp: mean('temp'),
    voc: mean('voc'),
    voc_index: mean('voc_index'),
    shutter_closed: max('shutter_closed'),
  }
}

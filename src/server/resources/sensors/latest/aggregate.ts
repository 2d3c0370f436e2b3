// The one sample of a room, made of the latest samples of its endpoints. [contract 5.2.aggregate]
import type { SampleRow } from '../ingest/store.ts'

/** A value that no endpoint has is missing, not 0. Undefined if there is nothing to aggregate. */
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
    let most: number | null = null
    for (const row of rows) {
      const value = row[column]
      if (value !== null && (most === null || value > most)) most = value
    }
    return most
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

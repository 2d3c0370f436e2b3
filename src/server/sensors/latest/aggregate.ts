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
  return {
    timestamp: greatest(rows, 'timestamp') as number,
    co2: mean('co2'),
    humidity: mean('humidity'),
    illumination: mean('illumination'),
    people: mostPeople(rows),
    temp: mean('temp'),
    voc: mean('voc'),
    voc_index: mean('voc_index'),
    shutter_closed: greatest(rows, 'shutter_closed'),
  }
}

/** Null if no endpoint has a number. */
export const mostPeople = (rows: readonly SampleRow[]): number | null => greatest(rows, 'people')

function greatest(rows: readonly SampleRow[], column: keyof SampleRow): number | null {
  let found: number | null = null
  for (const row of rows) {
    const value = row[column]
    if (value !== null && (found === null || value > found)) found = value
  }
  return found
}

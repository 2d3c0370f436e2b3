// The one sample of a room, made of the latest samples of its endpoints. [contract 5.2.aggregate]
import type { SampleRow } from './store.ts'

/** A value that no endpoint has is missing, not 0. Undefined if there is nothing to aggregate. */
export function aggregate(rows: readonly SampleRow[]): SampleRow | undefined {
  if (rows.length === 0) return undefined
  const present = (column: keyof SampleRow) => rows.map((row) => row[column]).filter((value) => value !== null)
  const mean = (column: keyof SampleRow) => {
    const values = present(column)
    return values.length === 0 ? null : Math.round(values.reduce((a, b) => a + b, 0) / values.length)
  }
  const max = (column: keyof SampleRow) => {
    const values = present(column)
    return values.length === 0 ? null : Math.max(...values)
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

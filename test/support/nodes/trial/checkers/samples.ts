// Checks that the stored samples are exactly those that were acknowledged, and that rollups are equal to recomputed ones.
import type { SentSample } from '../histories.ts'

export interface StoredSample {
  readonly endpointId: string
  /** Unix seconds. */
  readonly timestamp: number
  readonly co2: number | null
}

/** A sample that was sent and not acknowledged may be stored or not. */
export function checkSamples(sent: readonly SentSample[], stored: readonly StoredSample[]): string[] {
  const problems: string[] = []
  const key = ({ endpointId, timestamp }: { endpointId: string; timestamp: number }) => `${endpointId} at ${timestamp}`
  const storedBy = Map.groupBy(stored, key)
  const sentBy = Map.groupBy(sent, key)
  for (const [name, rows] of storedBy) {
    if (rows.length > 1) problems.push(`The sample of ${name} is stored ${rows.length} times.`)
    const [first] = sentBy.get(name) ?? []
    if (!first) problems.push(`The sample of ${name} is stored, but no device sent it.`)
    else if (rows[0]?.co2 !== first.co2) {
      problems.push(`The sample of ${name} is stored as ${rows[0]?.co2}, but was sent as ${first.co2}.`)
    }
  }
  for (const sample of sent) {
    if (sample.acknowledgedAt !== undefined && !storedBy.has(key(sample))) {
      problems.push(`The sample of ${key(sample)} was acknowledged, but is not stored.`)
    }
  }
  return problems
}

/** A rollup row over all rooms of an endpoint. `slot` numbers the quarter. */
export interface StoredQuarter {
  readonly endpointId: string
  readonly slot: number
  readonly count: number
  readonly min: number | null
  readonly max: number | null
  readonly sum: number | null
}

const quarterSeconds = 900

/** `due` are quarters (endpoint and slot, with a space in between) whose rollup is not made yet. */
export function checkRollups(
  samples: readonly StoredSample[],
  quarters: readonly StoredQuarter[],
  due: ReadonlySet<string> = new Set(),
): string[] {
  const problems: string[] = []
  const name = (endpointId: string, slot: number) => `${endpointId} ${slot}`
  const expected = Map.groupBy(
    samples.filter(({ co2 }) => co2 !== null),
    ({ endpointId, timestamp }) => name(endpointId, Math.floor(timestamp / quarterSeconds)),
  )
  const rows = new Map(quarters.map((quarter) => [name(quarter.endpointId, quarter.slot), quarter]))
  if (rows.size !== quarters.length) problems.push('A quarter has two rollups.')
  for (const [key, inside] of expected) {
    if (due.has(key)) continue
    const values = inside.map(({ co2 }) => co2 as number)
    const recomputed = {
      count: values.length,
      min: Math.min(...values),
      max: Math.max(...values),
      sum: values.reduce((total, value) => total + value, 0),
    }
    const row = rows.get(key)
    if (!row) problems.push(`Quarter ${key} has ${values.length} samples and no rollup.`)
    else {
      const { count, min, max, sum } = row
      const found = { count, min, max, sum }
      if (JSON.stringify(found) !== JSON.stringify(recomputed)) {
        problems.push(
          `The rollup of quarter ${key} is ${JSON.stringify(found)}, but ${JSON.stringify(recomputed)} recomputed.`,
        )
      }
    }
  }
  for (const key of rows.keys()) {
    if (!expected.has(key) && !due.has(key)) problems.push(`Quarter ${key} has a rollup and no samples.`)
  }
  return problems
}

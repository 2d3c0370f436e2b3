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

/** The length of each kind of rollup. Days are those of UTC, the time zone of the organisation of a trial. */
const periodSeconds = { quarter: 900, hour: 3600, day: 86_400 } as const

export type RollupPeriod = keyof typeof periodSeconds

/** A rollup row over all rooms of an endpoint. `slot` numbers the quarter, hour or day. */
export interface StoredRollup {
  readonly endpointId: string
  readonly slot: number
  readonly count: number
  readonly min: number | null
  readonly max: number | null
  readonly sum: number | null
}

/** A quarter whose rollup is not made yet. */
export interface DueQuarter {
  readonly endpointId: string
  readonly slot: number
}

/** Rollups that contain a due quarter may be old or missing. */
export function checkRollups(
  period: RollupPeriod,
  samples: readonly StoredSample[],
  rollups: readonly StoredRollup[],
  due: readonly DueQuarter[] = [],
): string[] {
  const problems: string[] = []
  const name = (endpointId: string, seconds: number) => `${endpointId} ${Math.floor(seconds / periodSeconds[period])}`
  const excused = new Set(due.map(({ endpointId, slot }) => name(endpointId, slot * periodSeconds.quarter)))
  const expected = Map.groupBy(
    samples.filter(({ co2 }) => co2 !== null),
    ({ endpointId, timestamp }) => name(endpointId, timestamp),
  )
  const rows = new Map(rollups.map((rollup) => [`${rollup.endpointId} ${rollup.slot}`, rollup]))
  if (rows.size !== rollups.length) problems.push(`There are two rollups of one ${period}.`)
  for (const [key, inside] of expected) {
    if (excused.has(key)) continue
    const values = inside.map(({ co2 }) => co2 as number)
    const recomputed = {
      count: values.length,
      min: Math.min(...values),
      max: Math.max(...values),
      sum: values.reduce((total, value) => total + value, 0),
    }
    const row = rows.get(key)
    if (!row) problems.push(`The ${period} ${key} has ${values.length} samples and no rollup.`)
    else {
      const { count, min, max, sum } = row
      const found = { count, min, max, sum }
      if (JSON.stringify(found) !== JSON.stringify(recomputed)) {
        problems.push(
          `The rollup of ${period} ${key} is ${JSON.stringify(found)}, but ${JSON.stringify(recomputed)} recomputed.`,
        )
      }
    }
  }
  for (const key of rows.keys()) {
    if (!expected.has(key) && !excused.has(key)) problems.push(`The ${period} ${key} has a rollup and no samples.`)
  }
  return problems
}

// Counts the units of jobs, of which there may be a hundred thousand, in turns of the event loop that stay short.
import type { OrgReader } from '../../db/handles.ts'
import { countRange, countSteerableRange, countVisibleRange, type UnitCount } from './unit-count-store.ts'
import { rangeSizeRows, unitRanges } from './unit-ranges.ts'

/** A job, and how many units it has. */
export interface CountedJob {
  readonly id: number
  readonly unit_count: number
}

/** Counts the units that the caller sees. */
export const countVisibleUnits = (on: OrgReader, jobs: readonly CountedJob[]): Promise<UnitCount[]> =>
  countInRanges(jobs, (values) => countVisibleRange(on, values))

/** Counts all units, for the engine. */
export const countUnits = (on: OrgReader, jobs: readonly CountedJob[]): Promise<UnitCount[]> =>
  countInRanges(jobs, (values) => countRange(on, values))

/** Counts the units that keep a caller who is limited to regions from steering a job. */
export async function countHiddenUnits(on: OrgReader, { id, unit_count }: CountedJob): Promise<number> {
  if (on.access.isEverything) return 0
  let steerable = 0
  for await (const range of unitRanges(unit_count)) {
    steerable += (await countSteerableRange(on, { job: id, ...range }))[0]?.count ?? 0
  }
  return unit_count - steerable
}

type Count = (values: { jobs: readonly number[]; from: number; to: number }) => Promise<UnitCount[]>

/** Small jobs share statements, and a large one has several. */
async function countInRanges(jobs: readonly CountedJob[], count: Count): Promise<UnitCount[]> {
  const sums = new Map<string, UnitCount>()
  for (const group of groupJobs(jobs)) {
    const ids = group.map(({ id }) => id)
    for await (const range of unitRanges(Math.max(...group.map(({ unit_count }) => unit_count)))) {
      for (const row of await count({ jobs: ids, ...range })) addTo(sums, row)
    }
  }
  return [...sums.values()]
}

/** Groups jobs that have no more units together than a statement counts. */
function groupJobs(jobs: readonly CountedJob[]): CountedJob[][] {
  const groups: CountedJob[][] = []
  let units = Number.POSITIVE_INFINITY
  for (const job of jobs) {
    units += job.unit_count
    if (units > rangeSizeRows) {
      groups.push([])
      units = job.unit_count
    }
    groups.at(-1)?.push(job)
  }
  return groups
}

function addTo(sums: Map<string, UnitCount>, row: UnitCount): void {
  const key = JSON.stringify([row.job_id, row.stage, row.state, row.reason])
  const sum = sums.get(key)
  const add = (column: 'count' | 'endpoints' | 'begun' | 'failed') => (sum?.[column] ?? 0) + row[column]
  sums.set(key, {
    ...row,
    count: add('count'),
    endpoints: add('endpoints'),
    begun: add('begun'),
    failed: add('failed'),
  })
}

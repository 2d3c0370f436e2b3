// Reads buckets from rollups, and from raw samples where a rollup is not complete yet.

import { Failure } from '../../core/failure.ts'
import {
  numbersFrom,
  quarterSeconds,
  quarters,
  slots as rawSlots,
  type SlotScale,
  slotSeconds,
} from '../../core/time/slots.ts'
import type { OrgReader } from '../../db/handles.ts'
import type { SensorColumn } from '../../db/schema/schema.ts'
import type { RollupTable } from '../rollups/store.ts'
import {
  type EndpointSelection,
  findZones,
  listDueIn,
  listQuarters,
  listRollups,
  listSums,
  type StatisticsRow,
} from './store.ts'
import { Sums } from './sums.ts'
import { inPieces, inTurns, maxRowsPerSlice, type SliceReader, type SliceResult } from './walk.ts'

/** A slice may have this many due quarters; usually it has the last one or two. */
const maxDuePerSlice = 200
/** A row with more sensors takes longer to read, so a slice then has fewer rows. */
const usualSensors = 2
/** Bounds the time of a query, because all its endpoints may have due quarters. */
const maxEndpointsPerQuery = 500
/** A usual device sends a sample a minute. */
export const samplesInSlot = 5
const slotsInQuarter = quarterSeconds / slotSeconds

export interface RollupSource {
  readonly columns: readonly SensorColumn[]
  readonly buckets: SlotScale
  readonly table: RollupTable
  /** The meaning of the table's slots. */
  readonly slots: SlotScale
  /** The largest number of quarters in a bucket. */
  readonly quartersInBucket: number
  /** For a table of days: the time zone in which they must be. */
  readonly dayZone: string | undefined
}

/**
 * A rollup row counts unless one of its quarters is due. No transaction is needed: the due quarters are listed first, then exactly
 * those are read from raw samples and the others from rollups. A quarter that is rolled up in between is complete in both.
 */
export class RollupReader implements SliceReader<StatisticsRow> {
  readonly buckets: SlotScale
  readonly table: RollupTable
  readonly slots: SlotScale
  readonly maxBuckets: number
  readonly initialBuckets: number
  readonly endpointsPerQuery: number
  readonly #on: OrgReader
  readonly #columns: readonly SensorColumn[]
  readonly #dayZone: string | undefined

  constructor(on: OrgReader, { columns, buckets, table, slots, quartersInBucket, dayZone }: RollupSource) {
    this.#on = on
    this.#columns = columns
    this.#dayZone = dayZone
    this.buckets = buckets
    this.table = table
    this.slots = slots
    const maxRows = Math.floor((maxRowsPerSlice * usualSensors) / Math.max(columns.length, usualSensors))
    this.maxBuckets = Math.floor(maxRows / (slots === buckets ? 1 : quartersInBucket))
    this.initialBuckets = this.maxBuckets
    this.endpointsPerQuery = Math.min(maxEndpointsPerQuery, Math.floor(maxRowsPerSlice / quartersInBucket))
  }

  async read(
    selection: EndpointSelection,
    first: number,
    end: number,
  ): Promise<SliceResult<StatisticsRow> | undefined> {
    const sums = new Sums(this.#columns, first, end)
    let rows = 0
    for await (const endpoints of inTurns(selection.endpoints, this.endpointsPerQuery)) {
      const read = await this.#add(sums, { ...selection, endpoints }, first, end)
      if (read === undefined) return undefined
      rows += read
    }
    return { items: sums.filled(), rows }
  }

  async #add(sums: Sums, selection: EndpointSelection, first: number, end: number): Promise<number | undefined> {
    const { buckets, slots, table } = this
    const [from, to] = [buckets.start(first), buckets.start(end)]
    // A single bucket cannot have more than maxRowsPerSlice: see endpointsPerQuery.
    const maxDue = end - first > 1 ? maxDuePerSlice : maxRowsPerSlice
    const due = await listDueIn(this.#on, {
      endpoints: selection.endpoints,
      from: quarters.at(from),
      to: quarters.at(to),
      limit: maxDue + 1,
    })
    if (due.length > maxDue) return undefined

    const incomplete = new Map<number, Set<number>>()
    for (const { endpoint, slot } of due) {
      const known = incomplete.get(endpoint)
      const part = slots.at(quarters.start(slot))
      if (known) known.add(part)
      else incomplete.set(endpoint, new Set([part]))
    }
    const isSame = slots === buckets
    const range = isSame ? { from: first, to: end } : { from: slots.at(from), to: slots.at(to) }
    const rows = await listRollups(this.#on, table, this.#columns, selection, range)
    if (table === 'sample_days') await this.#checkZone()
    for (const row of rows) {
      if (incomplete.get(row.endpoint)?.has(row.slot)) continue
      sums.add(isSame ? row.slot : buckets.at(slots.start(row.slot)), row)
    }
    let more = 0
    for (const group of groupByQuarters(due)) more += await this.#addIncomplete(sums, selection, group)
    return rows.length + due.length + more
  }

  /** Refuses to mix days of two time zones. */
  async #checkZone(): Promise<void> {
    if ((await findZones(this.#on))?.days === this.#dayZone) return
    throw new Failure(
      'UNAVAILABLE',
      'The time zone of the organisation was changed, and its days are being computed again. Send the request again in a moment.',
      { retryAfterSeconds: 5 },
    )
  }

  /** Adds the due quarters, and the other quarters of the hours or days that contain them. */
  async #addIncomplete(sums: Sums, selection: EndpointSelection, { endpoints, quarters: due }: Group): Promise<number> {
    const { buckets, slots } = this
    const others = slots === quarters ? [] : quartersBeside(due, slots)
    const rawSlotsOf = due.flatMap((quarter) => numbersFrom(quarter * slotsInQuarter, (quarter + 1) * slotsInQuarter))
    let rows = 0
    for (const [some, pieces] of grid(endpoints, others, maxRowsPerSlice)) {
      for (const row of await listQuarters(this.#on, this.#columns, { ...selection, endpoints: some }, pieces)) {
        sums.add(buckets.at(quarters.start(row.slot)), row)
        rows++
      }
    }
    for (const [some, pieces] of grid(endpoints, rawSlotsOf, maxRowsPerSlice / samplesInSlot)) {
      for (const row of await listSums(this.#on, this.#columns, { ...selection, endpoints: some }, pieces)) {
        rows += row.samples
        sums.add(buckets.at(rawSlots.start(row.slot)), row)
      }
    }
    return rows
  }
}

interface Group {
  readonly endpoints: number[]
  readonly quarters: readonly number[]
}

/** Groups endpoints that have the same due quarters: usually all have only the present one. */
function groupByQuarters(due: readonly { endpoint: number; slot: number }[]): Iterable<Group> {
  const groups = new Map<string, Group>()
  for (const [endpoint, of] of Map.groupBy(due, (d) => d.endpoint)) {
    const list = of.map((d) => d.slot).sort((a, b) => a - b)
    const name = list.join()
    const known = groups.get(name)
    if (known) known.endpoints.push(endpoint)
    else groups.set(name, { endpoints: [endpoint], quarters: list })
  }
  return groups.values()
}

/** The quarters that are not due, in the hours or days that contain due ones. */
function quartersBeside(due: readonly number[], slots: SlotScale): number[] {
  const isDue = new Set(due)
  const parts = new Set(due.map((quarter) => slots.at(quarters.start(quarter))))
  return [...parts].flatMap((part) => {
    const [first, end] = [quarters.at(slots.start(part)), quarters.at(slots.start(part + 1))]
    return numbersFrom(first, end).filter((quarter) => !isDue.has(quarter))
  })
}

/** Pieces of two lists, such that each pair of pieces makes about `maxPairs` pairs. */
function* grid(endpoints: readonly number[], list: readonly number[], maxPairs: number) {
  for (const some of inPieces(endpoints, Math.ceil(maxPairs / slotsInQuarter))) {
    for (const piece of inPieces(list, Math.ceil(maxPairs / some.length))) yield [some, piece] as const
  }
}

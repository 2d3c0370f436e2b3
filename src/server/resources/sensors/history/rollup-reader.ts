// Reads buckets from rollups, and from raw samples where a rollup does not have them all yet.

import { Failure } from '../../../core/failure.ts'
import type { OrgReader } from '../../../db/handles.ts'
import type { SensorColumn } from '../../../db/schema.ts'
import type { RollupTable } from '../rollups/store.ts'
import { numbersFrom, quarterLength, quarters, slots as rawSlots, type SlotScale, slotLength } from '../slots.ts'
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

/** How many due quarters a slice may have; usually it is the last one or two. */
const mostDue = 200
/** All of them may have something due, and others wait meanwhile. */
const mostEndpoints = 500
/** A sample a minute is usual. */
export const samplesInSlot = 5
const slotsInQuarter = quarterLength / slotLength

export interface RollupSource {
  readonly columns: readonly SensorColumn[]
  readonly buckets: SlotScale
  readonly table: RollupTable
  /** What the slots of the table are. */
  readonly slots: SlotScale
  /** How many quarters a bucket has at most. */
  readonly quartersInBucket: number
  /** Of a table of days: the zone that they must be in. */
  readonly dayZone: string | undefined
}

/**
 * A row counts unless a quarter of it is due. No transaction is needed: what is due is read first, then exactly that from raw
 * samples and exactly the rest from rollups. What is rolled up in between is complete in both.
 */
export class RollupReader implements SliceReader<StatisticsRow> {
  readonly buckets: SlotScale
  readonly table: RollupTable
  readonly slots: SlotScale
  readonly longest: number
  readonly usual: number
  readonly endpointsAtOnce: number
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
    this.longest = Math.floor(maxRowsPerSlice / (slots === buckets ? 1 : quartersInBucket))
    this.usual = this.longest
    this.endpointsAtOnce = Math.min(mostEndpoints, Math.floor(maxRowsPerSlice / quartersInBucket))
  }

  async read(whose: EndpointSelection, first: number, end: number): Promise<SliceResult<StatisticsRow> | undefined> {
    const sums = new Sums(this.#columns, first, end)
    let rows = 0
    for await (const endpoints of inTurns(whose.endpoints, this.endpointsAtOnce)) {
      const read = await this.#add(sums, { ...whose, endpoints }, first, end)
      if (read === undefined) return undefined
      rows += read
    }
    return { items: sums.filled(), rows }
  }

  async #add(sums: Sums, whose: EndpointSelection, first: number, end: number): Promise<number | undefined> {
    const { buckets, slots, table } = this
    const [from, to] = [buckets.start(first), buckets.start(end)]
    // A single bucket cannot have more than that: see endpointsAtOnce.
    const mostHere = end - first > 1 ? mostDue : maxRowsPerSlice
    const due = await listDueIn(this.#on, {
      endpoints: whose.endpoints,
      from: quarters.at(from),
      to: quarters.at(to),
      limit: mostHere + 1,
    })
    if (due.length > mostHere) return undefined

    const incomplete = new Map<number, Set<number>>()
    for (const { endpoint, slot } of due) {
      const known = incomplete.get(endpoint)
      const part = slots.at(quarters.start(slot))
      if (known) known.add(part)
      else incomplete.set(endpoint, new Set([part]))
    }
    const isSame = slots === buckets
    const range = isSame ? { from: first, to: end } : { from: slots.at(from), to: slots.at(to) }
    const rows = await listRollups(this.#on, table, this.#columns, whose, range)
    if (table === 'sample_days') await this.#checkZone()
    for (const row of rows) {
      if (incomplete.get(row.endpoint)?.has(row.slot)) continue
      sums.add(isSame ? row.slot : buckets.at(slots.start(row.slot)), row)
    }
    let more = 0
    for (const group of alike(due)) more += await this.#addIncomplete(sums, whose, group)
    return rows.length + due.length + more
  }

  /** Days of two zones must not stand side by side. */
  async #checkZone(): Promise<void> {
    if ((await findZones(this.#on))?.days === this.#dayZone) return
    throw new Failure(
      'UNAVAILABLE',
      'The time zone of the organisation was changed, and its days are made anew. Send the request again in a moment.',
      { headers: { 'Retry-After': '5' } },
    )
  }

  /** The due quarters themselves, and the other quarters of the hours or days that they lie in. */
  async #addIncomplete(sums: Sums, whose: EndpointSelection, { endpoints, quarters: due }: Group): Promise<number> {
    const { buckets, slots } = this
    const others = slots === quarters ? [] : quartersBeside(due, slots)
    const rawSlotsOf = due.flatMap((quarter) => numbersFrom(quarter * slotsInQuarter, (quarter + 1) * slotsInQuarter))
    let rows = 0
    for (const [some, pieces] of grid(endpoints, others, maxRowsPerSlice)) {
      for (const row of await listQuarters(this.#on, this.#columns, { ...whose, endpoints: some }, pieces)) {
        sums.add(buckets.at(quarters.start(row.slot)), row)
        rows++
      }
    }
    for (const [some, pieces] of grid(endpoints, rawSlotsOf, maxRowsPerSlice / samplesInSlot)) {
      for (const row of await listSums(this.#on, this.#columns, { ...whose, endpoints: some }, pieces)) {
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

/** Endpoints that have the same quarters due: mostly it is the present one of all of them. */
function alike(due: readonly { endpoint: number; slot: number }[]): Iterable<Group> {
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

/** The quarters that are not due, of the hours or days that due ones lie in. */
function quartersBeside(due: readonly number[], slots: SlotScale): number[] {
  const isDue = new Set(due)
  const parts = new Set(due.map((quarter) => slots.at(quarters.start(quarter))))
  return [...parts].flatMap((part) => {
    const [first, end] = [quarters.at(slots.start(part)), quarters.at(slots.start(part + 1))]
    return numbersFrom(first, end).filter((quarter) => !isDue.has(quarter))
  })
}

/** Pieces of two lists, such that each pair of pieces makes about `most` pairs. */
function* grid(endpoints: readonly number[], list: readonly number[], most: number) {
  for (const some of inPieces(endpoints, Math.ceil(most / slotsInQuarter))) {
    for (const piece of inPieces(list, Math.ceil(most / some.length))) yield [some, piece] as const
  }
}

// Reads the history of an endpoint or a room in slices: no query is long, and other work runs between two.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { quarters, type SlotScale } from '../../core/time/slots.ts'
import type { OrgReader } from '../../db/handles.ts'
import type { RollupTable } from '../rollups/store.ts'
import { type EndpointSelection, findNextSlot, type RoomStay } from './store.ts'

/** The endpoints whose history is read, with the times at which they count. */
export interface HistorySubject {
  /** Only samples that were measured in this room count; 0 means any room. */
  readonly room: number
  readonly stays: readonly Pick<RoomStay, 'endpoint' | 'since' | 'until'>[]
}

/** About this many rows are read with one query. */
export const maxRowsPerSlice = 2000

export interface SliceResult<T> {
  /** Oldest first. */
  readonly items: T[]
  /** How many rows were read. After 0 the walk looks for the next slot that has some. */
  readonly rows: number
}

/** Reads the buckets of a slice. */
export interface SliceReader<T> {
  readonly buckets: SlotScale
  /** The table in which the next samples are looked up, apart from due ones, and the meaning of its slots. */
  readonly table: RollupTable
  readonly slots: SlotScale
  /** How many buckets a slice of one endpoint has at first, and at most. */
  readonly initialBuckets: number
  readonly maxBuckets: number
  /** How many endpoints one query reads. */
  readonly endpointsPerQuery: number
  /** Undefined if the slice was too large, which a single bucket never is. */
  read(selection: EndpointSelection, first: number, end: number): Promise<SliceResult<T> | undefined>
}

export interface Slice<T> extends SliceResult<T> {
  /** The bucket that the next slice begins with. */
  readonly next: number
}

/** `maxItems` is how many items the caller can use; the first slice is not longer. */
export async function* walk<T>(
  on: OrgReader,
  place: HistorySubject,
  reader: SliceReader<T>,
  { first, end, maxItems }: { first: number; end: number; maxItems: number },
): AsyncGenerator<Slice<T>> {
  const { buckets } = reader
  let length = Math.min(reader.initialBuckets, maxItems)
  let at = first
  while (at < end) {
    if (at > first) await nextTurn()
    const here = presentIn(place, buckets.start(at), buckets.start(at + 1)).endpoints.length
    length = Math.max(1, Math.min(length, Math.floor(reader.maxBuckets / Math.max(here, 1))))
    const to = Math.min(at + length, end)
    const read = await reader.read(presentIn(place, buckets.start(at), buckets.start(to)), at, to)
    if (!read) {
      length = Math.ceil((to - at) / 2)
      continue
    }
    const next = read.rows > 0 ? to : Math.min(end, await nextFilled(on, place, reader, to))
    yield { ...read, next }
    if (read.rows > maxRowsPerSlice) length = Math.ceil(length / 2)
    else if (read.rows < maxRowsPerSlice / 2) length *= 2
    at = next
  }
}

function presentIn({ room, stays }: HistorySubject, from: number, to: number): EndpointSelection {
  const present = stays.filter(({ since, until }) => since < to && (until === null || until > from))
  return { room, endpoints: [...new Set(present.map(({ endpoint }) => endpoint))] }
}

/** The first bucket, from the given one on, that may have samples. Gaps can be years. */
async function nextFilled<T>(
  on: OrgReader,
  place: HistorySubject,
  { buckets, table, slots, endpointsPerQuery }: SliceReader<T>,
  bucket: number,
): Promise<number> {
  const from = buckets.start(bucket)
  let next = Number.POSITIVE_INFINITY
  for (const { since } of place.stays) if (since > from) next = Math.min(next, since)
  const here = presentIn(place, from, from + 1)
  for await (const endpoints of inTurns(here.endpoints, endpointsPerQuery)) {
    const due = (await findNextSlot.sample_due(on, { endpoints, slot: quarters.at(from) }))?.slot ?? undefined
    const rolledUp = (await findNextSlot[table](on, { endpoints, slot: slots.at(from) }))?.slot ?? undefined
    if (due !== undefined) next = Math.min(next, quarters.start(due))
    if (rolledUp !== undefined) next = Math.min(next, slots.start(rolledUp))
  }
  return Number.isFinite(next) ? buckets.at(Math.max(next, from)) : next
}

/** Pieces of a list, with a turn of the event loop between two. */
export async function* inTurns<T>(list: readonly T[], length: number): AsyncGenerator<readonly T[]> {
  for (const [i, piece] of inPieces(list, length).entries()) {
    if (i > 0) await nextTurn()
    yield piece
  }
}

export function inPieces<T>(list: readonly T[], length: number): readonly (readonly T[])[] {
  if (list.length <= length) return list.length === 0 ? [] : [list]
  return Array.from({ length: Math.ceil(list.length / length) }, (_, i) => list.slice(i * length, (i + 1) * length))
}

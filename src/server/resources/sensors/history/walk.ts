// Walks through the history of an endpoint or a room, a slice at a time: no query is long, and others get their turn between two.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { OrgReader } from '../../../db/handles.ts'
import type { RollupTable } from '../rollups/store.ts'
import { quarters, type SlotScale } from '../slots.ts'
import { type EndpointSelection, findNextSlot, type RoomStay } from './store.ts'

/** Whose history it is. */
export interface HistoryPosition {
  /** Only what was measured in this room; 0: wherever it was. */
  readonly room: number
  readonly stays: readonly Pick<RoomStay, 'endpoint' | 'since' | 'until'>[]
}

/** What is read of the database in one go, about. */
export const maxRowsPerSlice = 2000

export interface SliceResult<T> {
  /** Oldest first. */
  readonly items: T[]
  /** How many rows that took. None: there is nothing, and the walk may look where something is. */
  readonly rows: number
}

/** How the buckets of a slice are read. */
export interface SliceReader<T> {
  readonly buckets: SlotScale
  /** The table that knows where the next samples are, apart from those that are due, and what its slots mean. */
  readonly table: RollupTable
  readonly slots: SlotScale
  /** How many buckets a slice of one endpoint has at first, and at most. */
  readonly usual: number
  readonly longest: number
  /** How many endpoints are read together. */
  readonly endpointsAtOnce: number
  /** Undefined if that was too much at once; never for a single bucket. */
  read(whose: EndpointSelection, first: number, end: number): Promise<SliceResult<T> | undefined>
}

export interface Slice<T> extends SliceResult<T> {
  /** The bucket that the next slice begins with. */
  readonly next: number
}

/** `most` is how many items the caller can use: fewer are read where that is enough. */
export async function* walk<T>(
  on: OrgReader,
  place: HistoryPosition,
  reader: SliceReader<T>,
  { first, end, most }: { first: number; end: number; most: number },
): AsyncGenerator<Slice<T>> {
  const { buckets } = reader
  let length = Math.min(reader.usual, most)
  let at = first
  while (at < end) {
    if (at > first) await nextTurn()
    const here = presentIn(place, buckets.start(at), buckets.start(at + 1)).endpoints.length
    length = Math.max(1, Math.min(length, Math.floor(reader.longest / Math.max(here, 1))))
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

function presentIn({ room, stays }: HistoryPosition, from: number, to: number): EndpointSelection {
  const present = stays.filter(({ since, until }) => since < to && (until === null || until > from))
  return { room, endpoints: [...new Set(present.map(({ endpoint }) => endpoint))] }
}

/** The first bucket, from that one on, that may hold something. Gaps can be years. */
async function nextFilled<T>(
  on: OrgReader,
  place: HistoryPosition,
  { buckets, table, slots, endpointsAtOnce }: SliceReader<T>,
  bucket: number,
): Promise<number> {
  const from = buckets.start(bucket)
  let next = Number.POSITIVE_INFINITY
  for (const { since } of place.stays) if (since > from) next = Math.min(next, since)
  const here = presentIn(place, from, from + 1)
  for await (const endpoints of inTurns(here.endpoints, endpointsAtOnce)) {
    const due = (await findNextSlot.sample_due(on, { endpoints, slot: quarters.at(from) }))?.slot ?? undefined
    const rolledUp = (await findNextSlot[table](on, { endpoints, slot: slots.at(from) }))?.slot ?? undefined
    if (due !== undefined) next = Math.min(next, quarters.start(due))
    if (rolledUp !== undefined) next = Math.min(next, slots.start(rolledUp))
  }
  return Number.isFinite(next) ? buckets.at(Math.max(next, from)) : next
}

/** Pieces of a list, and a turn for others between two. */
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

// Reads the rows of rooms and devices that events name, and puts them into the cached lists. The server alone decides their states. [contract 7.ids]
import { type Query, replaceEqualDeep } from '@tanstack/react-query'
import type { ApiResponse } from '../../client/client.ts'
import type { Event } from '../../contract/journal/events.ts'
import type { ResponseOf } from '../../contract/operation.ts'
import type { Operations } from '../../contract/operations.ts'
import { maxListedIds } from '../../contract/shape.ts'
import { queryClient } from '../api.ts'
import { client } from '../session.ts'
import { invalidateThrottled } from './refetch.ts'

/** Events come in bursts, for example when a gateway ends: a read waits a moment, so it covers a whole burst. */
const firstReadMs = 250
/** Every read renders the page, so a list is read this often at most. */
const minIntervalMs = 2000
/** With more rows than this, the whole list is cheaper to read. */
const maxRows = 1000

export type RowListId = 'roomsList' | 'endpointsBasicList'
type Body<K extends RowListId> = ResponseOf<Operations[K]>
interface Row {
  readonly id: number | string
}
type RowId = Row['id']

/** The field of each list that has its rows. */
const rowFields = { roomsList: 'rooms', endpointsBasicList: 'endpoints' } as const
const rowListIds = Object.keys(rowFields) as RowListId[]

/** The reader reads single rows of this list. */
export const isRowList = (id: string): id is RowListId => id in rowFields

/** Reads up to `maxListedIds` rows. Ids that the caller does not see are left out of the answer. */
export type ReadRows = (id: RowListId, ids: readonly RowId[], signal: AbortSignal) => Promise<Body<RowListId>>

/** The rows that are being read, and the list as it was when the read started. */
interface RowRead {
  readonly id: RowListId
  readonly ids: readonly RowId[]
  readonly before: readonly Row[]
}

export class RowReader {
  readonly #readRows: ReadRows
  readonly #named: Readonly<Record<RowListId, Set<RowId>>> = { roomsList: new Set(), endpointsBasicList: new Set() }
  #stopped = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined
  #isReading = false
  #lastReadMs = Number.NEGATIVE_INFINITY

  constructor(readRows: ReadRows) {
    this.#readRows = readRows
  }

  /** After an event, the rows of its endpoint and of its rooms can differ. */
  nameRowsOf({ endpointId, roomIds }: Event): void {
    this.name('roomsList', roomIds)
    this.name('endpointsBasicList', endpointId === undefined ? [] : [endpointId])
  }

  /** A list that is not on the screen is read whole when a page shows it again. */
  name(id: RowListId, ids: readonly RowId[]): void {
    if (ids.length === 0) return
    if (!findList(id)?.isActive()) {
      readWhole(id)
      return
    }
    for (const one of ids) this.#named[id].add(one)
    this.#schedule()
  }

  /** Forgets all names, because they are of another organisation from now on. */
  stop(): void {
    this.#stopped.abort()
    this.#stopped = new AbortController()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isReading = false
    for (const id of rowListIds) this.#named[id].clear()
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#isReading) return
    const waitMs = Math.max(firstReadMs, this.#lastReadMs + minIntervalMs - performance.now())
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      void this.#readNamed(this.#stopped.signal)
    }, waitMs)
  }

  async #readNamed(signal: AbortSignal): Promise<void> {
    const reads = rowListIds.flatMap((id) => this.#take(id) ?? [])
    if (reads.length > 0) {
      this.#isReading = true
      this.#lastReadMs = performance.now()
      try {
        const bodies = await Promise.all(reads.map((read) => this.#readParts(read, signal)))
        if (signal.aborted) return
        for (const [at, read] of reads.entries()) this.#put(read, bodies[at] ?? [])
      } catch {
        if (signal.aborted) return
        for (const { id } of reads) readWhole(id)
      }
      this.#isReading = false
    }
    if (rowListIds.some((id) => this.#named[id].size > 0)) this.#schedule()
  }

  /** Ids stay named while the whole list is being read: its answer can be older than their events. */
  #take(id: RowListId): RowRead | undefined {
    const named = this.#named[id]
    const query = findList(id)
    if (named.size === 0 || query?.state.fetchStatus === 'fetching') return undefined
    const ids = [...named]
    named.clear()
    const before = query && rowsIn(id, query)
    if (!before) return undefined
    // The last read of a stale list has failed. Single rows would make it look fresh.
    if (!query.state.isInvalidated && ids.length <= maxRows) return { id, ids, before }
    readWhole(id)
    return undefined
  }

  async #readParts({ id, ids }: RowRead, signal: AbortSignal): Promise<readonly Row[]> {
    const rows: Row[] = []
    for (let from = 0; from < ids.length; from += maxListedIds)
      rows.push(...rowsOfBody(id, await this.#readRows(id, ids.slice(from, from + maxListedIds), signal)))
    return rows
  }

  #put({ id, ids, before }: RowRead, read: readonly Row[]): void {
    const query = findList(id)
    const list = query && rowsIn(id, query)
    if (!list) return
    const isReplaced = query.state.isInvalidated || query.state.fetchStatus === 'fetching'
    const { rows, newer } = isReplaced ? { rows: list, newer: ids } : withRows(list, { before, ids, read })
    for (const one of newer) this.#named[id].add(one)
    if (rows === list) return
    queryClient.setQueryData<ApiResponse<unknown>>(
      query.queryKey,
      (response) => response && { ...response, body: { [rowFields[id]]: rows } },
    )
  }
}

const findList = (id: RowListId): Query<ApiResponse<Body<RowListId>>> | undefined =>
  queryClient.getQueryCache().find({ queryKey: [id], exact: true }) as Query<ApiResponse<Body<RowListId>>> | undefined

const rowsIn = (id: RowListId, { state }: Query<ApiResponse<Body<RowListId>>>): readonly Row[] | undefined =>
  state.data && rowsOfBody(id, state.data.body)

const rowsOfBody = (id: RowListId, body: Body<RowListId>): readonly Row[] =>
  (body as Record<string, readonly Row[]>)[rowFields[id]] ?? []

const readWhole = (id: RowListId): void => invalidateThrottled(id, () => true, '')

/**
 * Replaces, adds or removes the rows of these ids. A row that differs from `before` was changed during the read, by an answer that can be newer: it
 * stays, and its id is returned. Equal rows stay the same objects, to avoid rendering them again.
 */
export function withRows<T extends Row>(
  list: readonly T[],
  { ids, before, read }: { readonly ids: readonly RowId[]; readonly before: readonly T[]; readonly read: readonly T[] },
): { readonly rows: readonly T[]; readonly newer: readonly RowId[] } {
  const named = new Set(ids)
  const rowsOf = (from: readonly T[]) => new Map(from.filter(({ id }) => named.has(id)).map((row) => [row.id, row]))
  const [now, then, answered] = [rowsOf(list), rowsOf(before), rowsOf(read)]
  const newer = ids.filter((id) => now.get(id) !== then.get(id))
  for (const id of newer) named.delete(id)
  const kept = list.flatMap((row) => {
    if (!named.has(row.id)) return [row]
    const next = answered.get(row.id)
    return next ? [replaceEqualDeep(row, next)] : []
  })
  const added = [...answered.values()].filter(({ id }) => named.has(id) && !now.has(id))
  const rows = [...kept, ...added]
  const isSame = rows.length === list.length && rows.every((row, at) => row === list[at])
  return { rows: isSame ? list : rows, newer }
}

/** The reader of the console. */
export const rowReader = new RowReader(async (id, ids, signal) => {
  const input = { ids: ids.join() }
  const { roomsList, endpointsBasicList } = client()
  return (id === 'roomsList' ? await roomsList(input, { signal }) : await endpointsBasicList(input, { signal })).body
})

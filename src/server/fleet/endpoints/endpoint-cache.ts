// The response cache of endpoints: answers stay here as JSON until a statement writes to a row that they show.

import { LRUCache } from 'lru-cache'
import { ReadyAnswer } from '../../context/answers.ts'
import { etagOf } from '../../context/if-match.ts'
import type { Services } from '../../context/services.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../db/db.ts'
import type { OrgReader } from '../../db/handles.ts'
import type { WrittenRows } from '../../db/written-rows.ts'
import type { ReconnectTimes } from '../../nodes/reconnect-times.ts'
import type { StrictReads } from '../../nodes/strict-reads/strict-reads.ts'
import { EndpointListCache } from './endpoint-list-cache.ts'
import { endpointView } from './fields.ts'
import { withSeenGateways } from './seen-gateways.ts'
import { type EndpointRow, findEndpointVersion, findShownEndpoint } from './store.ts'

interface CachedEndpoint {
  readonly org: number
  readonly roomId: number | null
  readonly answer: ReadyAnswer
}

/** Enough for the answers of about a hundred thousand endpoints. */
const maxCachedBytes = 160 * 1024 * 1024

export class EndpointCache {
  readonly #db: Database
  readonly #reads: StrictReads
  readonly #reconnects: ReconnectTimes
  readonly #clock: Clock
  /** The key is the endpoint's id, a UUID, which no two organisations share. */
  readonly #endpoints = new LRUCache<string, CachedEndpoint>({
    maxSize: maxCachedBytes,
    sizeCalculation: ({ answer }) => answer.lengthBytes,
  })
  /** The key is the organisation. */
  readonly #lists = new Map<number, EndpointListCache>()
  /** The ids of the gateways of endpoints that were read. */
  readonly #gateways = new Set<string>()
  /** A row that was read before a write may be stale, so it is cached only if this number is still the same. */
  #writes = 0
  /** When the first endpoint that is shown as UNKNOWN gets another state without a write. */
  #changesAt = Number.POSITIVE_INFINITY

  constructor({ db, reads, reconnects, clock }: Pick<Services, 'db' | 'reads' | 'reconnects' | 'clock'>) {
    this.#db = db
    this.#clock = clock
    this.#reads = reads
    this.#reconnects = reconnects
    db.onWrite('endpoints', (written) => {
      if (isOfReadings(written)) this.#forget(written.where.id)
      else this.#invalidate(written, written.where.id, written.where.room_id)
      // The state of a device depends on the connection of its gateway.
      if (this.#gateways.has(String(written.where.id)) && (written.columns?.has('node_id') ?? true)) this.clear()
    })
    // An endpoint is connected while its node is up.
    db.onWrite('nodes', ({ columns }) => {
      if (!columns || columns.has('state')) this.clear()
    })
    // So does the state of a device of a source.
    db.onWrite('sources', ({ columns }) => {
      if (columns?.has('state')) this.clear()
    })
    // The list shows the state of the newest config version, which changes only together with the row of that version.
    db.onWrite('config_versions', ({ org, where: { endpoint_id: id } }) => {
      for (const list of org === undefined ? this.#lists.values() : [this.#lists.get(org)]) {
        if (typeof id === 'string') list?.invalidate(id)
        else list?.invalidateAll()
      }
    })
    // An endpoint shows the name of its room.
    db.onWrite('rooms', (written) => this.#invalidate(written, undefined, written.where.id))
  }

  /** Returns the cached answer, on SQLite without a turn of the event loop, or reads it. Undefined if there is no such endpoint. */
  find(org: number, id: string): ReadyAnswer | Promise<ReadyAnswer | undefined> {
    this.#checkTime()
    const cached = this.#get(org, id)
    if (!cached) return this.#load(org, id)
    // A commit of another node can have made it stale, and is received now at the latest.
    return this.#reads.confirm(org)?.then(() => this.#get(org, id) ?? this.#load(org, id)) ?? cached
  }

  /** Returns the answer for a caller who is limited to regions: the cached bytes, after a check of where the endpoint is now. */
  async findVisible(db: OrgReader, id: string): Promise<ReadyAnswer | undefined> {
    const answer = await this.find(db.org, id)
    const visible = answer && (await findEndpointVersion(db, { id }))
    if (!visible) return undefined
    if (answer.etag === etagOf(visible.version) && visible.via === null) return answer
    // The endpoint has changed since, and may have come from a room that the caller does not see; or its gateway may be hidden.
    const row = await findShownEndpoint(db, { ...this.#reconnects.current, id })
    const [shown] = row ? await withSeenGateways(db, [row]) : []
    return shown && answerOf(shown)
  }

  #get(org: number, id: string): ReadyAnswer | undefined {
    const cached = this.#endpoints.get(id)
    return cached?.org === org ? cached.answer : undefined
  }

  async #load(org: number, id: string): Promise<ReadyAnswer | undefined> {
    const writes = this.#writes
    const row = await findShownEndpoint(this.#db.forOrg(org), { ...this.#reconnects.current, id })
    if (!row) return undefined
    this.#noteState(row)
    const answer = answerOf(row)
    if (writes === this.#writes) this.#endpoints.set(id, { org, roomId: row.room_id, answer })
    return answer
  }

  list(org: number): ReadyAnswer | Promise<ReadyAnswer> {
    this.#checkTime()
    return this.#reads.confirm(org)?.then(() => this.#listOf(org).answer()) ?? this.#listOf(org).answer()
  }

  #listOf(org: number): EndpointListCache {
    let list = this.#lists.get(org)
    if (!list) {
      list = new EndpointListCache(this.#db.forOrg(org), {
        times: () => this.#reconnects.current,
        onRead: (row) => this.#noteState(row),
      })
      this.#lists.set(org, list)
    }
    return list
  }

  #noteState({ state, unknown_until, via }: Pick<EndpointRow, 'state' | 'unknown_until' | 'via'>): void {
    if (state === 'UNKNOWN') this.#changesAt = Math.min(this.#changesAt, unknown_until ?? 0)
    if (via !== null) this.#gateways.add(via)
  }

  #checkTime(): void {
    if (this.#changesAt === Number.POSITIVE_INFINITY || this.#clock.now() < this.#changesAt) return
    this.#changesAt = Number.POSITIVE_INFINITY
    this.clear()
  }

  /** Empties the cache, which also frees the memory of lists that no client requests now. */
  clear(): void {
    this.#writes++
    this.#endpoints.clear()
    for (const list of this.#lists.values()) list.invalidateAll()
    this.#lists.clear()
  }

  #invalidate({ org }: WrittenRows, id: unknown, roomId: unknown): void {
    this.#writes++
    if (org === undefined) {
      this.clear()
      return
    }
    const list = this.#lists.get(org)
    if (typeof id === 'string') {
      this.#endpoints.delete(id)
      list?.invalidate(id)
    } else if (typeof roomId === 'number') {
      this.#deleteWhere((cached) => cached.org === org && cached.roomId === roomId)
      list?.invalidateRoom(roomId)
    } else {
      this.#deleteWhere((cached) => cached.org === org)
      list?.invalidateAll()
    }
  }

  /** Lists do not show what was written. */
  #forget(id: string): void {
    this.#writes++
    this.#endpoints.delete(id)
  }

  #deleteWhere(isStale: (cached: CachedEndpoint) => boolean): void {
    const staleIds: string[] = []
    for (const [id, cached] of this.#endpoints.entries()) if (isStale(cached)) staleIds.push(id)
    for (const id of staleIds) this.#endpoints.delete(id)
  }
}

const isOfReadings = (written: WrittenRows): written is WrittenRows & { readonly where: { readonly id: string } } =>
  written.columns?.size === 1 && written.columns.has('readings') && typeof written.where.id === 'string'

const answerOf = (row: EndpointRow & { readonly room_name: string | null }): ReadyAnswer =>
  new ReadyAnswer(etagOf(row.version), JSON.stringify(endpointView(row, row.room_name)))

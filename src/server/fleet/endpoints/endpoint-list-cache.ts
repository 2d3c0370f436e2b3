// Caches the list of all endpoints of an organisation as bytes, and reads only those again that were written since.

import { hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ReadyAnswer } from '../../context/answers.ts'
import type { OrgReader } from '../../db/handles.ts'
import type { PresenceTimes } from '../../nodes/presence-sql.ts'
import { basicEndpointView } from './fields.ts'
import { type ListedEndpoint, listEndpointsAfter, listListedEndpoints } from './store.ts'

/** SQLite blocks the event loop while it reads a page, for a millisecond or two with this many rows. */
const rowsPerPage = 500
/** A change of one entry encodes the whole block again. */
const entriesPerBlock = 250
/** Encoding pauses after this many blocks, so other requests are served. */
const blocksPerTurn = 8

interface Entry {
  readonly roomId: number | null
  readonly text: string
}

interface Block {
  readonly bytes: Buffer
  readonly hash: string
}

const [start, end] = [Buffer.from('{"endpoints":['), Buffer.from(']}')]

interface ListReading {
  readonly times: () => PresenceTimes
  readonly onRead: (row: ListedEndpoint) => void
}

export class EndpointListCache {
  readonly #db: OrgReader
  readonly #reading: ListReading
  #entries = new Map<string, Entry>()
  /** The ids in the order of the answer. */
  #sortedIds: string[] = []
  #blocks: (Block | undefined)[] = []
  /** Ids of endpoints that were written since they were read. */
  readonly #staleIds = new Set<string>()
  /** Ids whose rows are being read. Their rooms are unknown until then, so a write to any room makes them stale. */
  #idsBeingRead: readonly string[] = []
  /** False if the entries must be read completely again. */
  #isComplete = false
  /** Counts invalidations of the whole list, so a read detects one that happened during it. */
  #invalidations = 0
  #answer: ReadyAnswer | undefined
  #current: Promise<ReadyAnswer> | undefined
  #next: Promise<ReadyAnswer> | undefined

  constructor(db: OrgReader, reading: ListReading) {
    this.#db = db
    this.#reading = reading
  }

  answer(): ReadyAnswer | Promise<ReadyAnswer> {
    if (this.#answer) return this.#answer
    // A read under way can have started before a write that this caller knows of, so the caller gets the next one.
    this.#next ??= this.#readAfter(this.#current)
    return this.#next
  }

  invalidate(id: string): void {
    this.#staleIds.add(id)
    this.#answer = undefined
  }

  invalidateRoom(roomId: number): void {
    for (const [id, entry] of this.#entries) if (entry.roomId === roomId) this.invalidate(id)
    for (const id of this.#idsBeingRead) this.invalidate(id)
    if (!this.#isComplete) this.#invalidations++
  }

  invalidateAll(): void {
    this.#invalidations++
    this.#isComplete = false
    this.#answer = undefined
  }

  async #readAfter(previous: Promise<ReadyAnswer> | undefined): Promise<ReadyAnswer> {
    await previous?.catch(() => {})
    this.#current = this.#next
    this.#next = undefined
    return this.#read()
  }

  async #read(): Promise<ReadyAnswer> {
    const invalidations = this.#invalidations
    if (this.#isComplete) await this.#readStale()
    else await this.#readAll()
    const isComplete = invalidations === this.#invalidations
    const answer = await this.#encode()
    this.#isComplete = isComplete && invalidations === this.#invalidations
    if (this.#isComplete && this.#staleIds.size === 0) this.#answer = answer
    return answer
  }

  async #readAll(): Promise<void> {
    this.#staleIds.clear()
    const entries = new Map<string, Entry>()
    for (let after = ''; ; ) {
      const rows = await listEndpointsAfter(this.#db, { ...this.#reading.times(), after, limit: rowsPerPage })
      for (const row of rows) entries.set(row.id, this.#makeEntry(row))
      const last = rows.at(-1)
      if (last === undefined || rows.length < rowsPerPage) break
      after = last.id
      await nextTurn()
    }
    this.#entries = entries
    this.#sortIds()
  }

  async #readStale(): Promise<void> {
    const ids = [...this.#staleIds]
    this.#staleIds.clear()
    this.#idsBeingRead = ids
    let rows: ListedEndpoint[]
    try {
      rows = await listListedEndpoints(this.#db, { ...this.#reading.times(), ids })
    } catch (error) {
      for (const id of ids) this.#staleIds.add(id)
      throw error
    } finally {
      this.#idsBeingRead = []
    }
    const sizeBefore = this.#entries.size
    const hasNew = rows.some((row) => !this.#entries.has(row.id))
    for (const id of ids) this.#entries.delete(id)
    for (const row of rows) this.#entries.set(row.id, this.#makeEntry(row))
    if (hasNew || this.#entries.size !== sizeBefore) this.#sortIds()
    else for (const { id } of rows) this.#blocks[Math.floor(this.#indexOf(id) / entriesPerBlock)] = undefined
  }

  #makeEntry(row: ListedEndpoint): Entry {
    this.#reading.onRead(row)
    return { roomId: row.room_id, text: JSON.stringify(basicEndpointView(row)) }
  }

  #sortIds(): void {
    this.#sortedIds = [...this.#entries.keys()].sort()
    this.#blocks = Array(Math.ceil(this.#sortedIds.length / entriesPerBlock)).fill(undefined)
  }

  /** Binary search in the sorted ids. */
  #indexOf(id: string): number {
    let [low, high] = [0, this.#sortedIds.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#sortedIds[middle] as string) < id) low = middle + 1
      else high = middle
    }
    return low
  }

  async #encode(): Promise<ReadyAnswer> {
    const pieces: Buffer[] = [start]
    const hashes: string[] = []
    let encodedBlocks = 0
    for (let i = 0; i < this.#blocks.length; i++) {
      let block = this.#blocks[i]
      if (!block) {
        block = this.#encodeBlock(i)
        this.#blocks[i] = block
        if (++encodedBlocks % blocksPerTurn === 0) await nextTurn()
      }
      pieces.push(block.bytes)
      hashes.push(block.hash)
    }
    pieces.push(end)
    return new ReadyAnswer(`W/"${hash('sha1', hashes.join(), 'base64url')}"`, pieces)
  }

  #encodeBlock(i: number): Block {
    const ids = this.#sortedIds.slice(i * entriesPerBlock, (i + 1) * entriesPerBlock)
    const texts = ids.map((id) => this.#entries.get(id)?.text).join()
    const bytes = Buffer.from(i > 0 ? `,${texts}` : texts)
    return { bytes, hash: hash('sha1', bytes, 'base64url') }
  }
}

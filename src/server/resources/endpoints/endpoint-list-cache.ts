// The list of all endpoints of an organisation as bytes: only what was written since is read and made anew.

import { hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { OrgReader } from '../../db/handles.ts'
import { ReadyAnswer } from '../../http/answer.ts'
import { type ListedEndpoint, listEndpointsAfter, listListedEndpoints } from './store.ts'
import { basicEndpointView } from './view.ts'

/** Few enough for a millisecond or two: on SQLite nothing else runs while a page is read. */
const pageSize = 500
/** Entries that are made anew together. */
const blockSize = 250
const blocksInATurn = 8

interface Entry {
  readonly room: number | null
  readonly text: string
}

interface Block {
  readonly bytes: Buffer
  readonly hash: string
}

const [start, end] = [Buffer.from('{"endpoints":['), Buffer.from(']}')]

export class EndpointListCache {
  readonly #db: OrgReader
  #entries = new Map<string, Entry>()
  /** In order, as in the answer. */
  #ids: string[] = []
  #blocks: (Block | undefined)[] = []
  /** What was written since it was read. */
  readonly #stale = new Set<string>()
  /** What is being read now: where it is, and what it shows, is not known before. */
  #reading: readonly string[] = []
  /** Everything is stale, and how often that was said. */
  #isWhole = false
  #drops = 0
  #answer: ReadyAnswer | undefined
  #current: Promise<ReadyAnswer> | undefined
  #next: Promise<ReadyAnswer> | undefined

  constructor(db: OrgReader) {
    this.#db = db
  }

  answer(): ReadyAnswer | Promise<ReadyAnswer> {
    if (this.#answer) return this.#answer
    // A reading that is under way may have begun before something that this caller knows of: the next one has not.
    this.#next ??= this.#after(this.#current)
    return this.#next
  }

  forget(id: string): void {
    this.#stale.add(id)
    this.#answer = undefined
  }

  forgetRoom(room: number): void {
    for (const [id, entry] of this.#entries) if (entry.room === room) this.forget(id)
    for (const id of this.#reading) this.forget(id)
    if (!this.#isWhole) this.#drops++
  }

  forgetAll(): void {
    this.#drops++
    this.#isWhole = false
    this.#answer = undefined
  }

  async #after(before: Promise<ReadyAnswer> | undefined): Promise<ReadyAnswer> {
    await before?.catch(() => {})
    this.#current = this.#next
    this.#next = undefined
    return this.#read()
  }

  async #read(): Promise<ReadyAnswer> {
    const drops = this.#drops
    if (this.#isWhole) await this.#readStale()
    else await this.#readAll()
    const isWhole = drops === this.#drops
    const answer = await this.#make()
    this.#isWhole = isWhole && drops === this.#drops
    if (this.#isWhole && this.#stale.size === 0) this.#answer = answer
    return answer
  }

  async #readAll(): Promise<void> {
    this.#stale.clear()
    const entries = new Map<string, Entry>()
    for (let after = ''; ; ) {
      const rows = await listEndpointsAfter(this.#db, { after, limit: pageSize })
      for (const row of rows) entries.set(row.id, entryOf(row))
      const last = rows.at(-1)
      if (last === undefined || rows.length < pageSize) break
      after = last.id
      await nextTurn()
    }
    this.#entries = entries
    this.#order()
  }

  async #readStale(): Promise<void> {
    const ids = [...this.#stale]
    this.#stale.clear()
    this.#reading = ids
    let rows: ListedEndpoint[]
    try {
      rows = await listListedEndpoints(this.#db, { ids })
    } catch (error) {
      for (const id of ids) this.#stale.add(id)
      throw error
    } finally {
      this.#reading = []
    }
    const before = this.#entries.size
    const isNew = rows.some((row) => !this.#entries.has(row.id))
    for (const id of ids) this.#entries.delete(id)
    for (const row of rows) this.#entries.set(row.id, entryOf(row))
    if (isNew || this.#entries.size !== before) this.#order()
    else for (const { id } of rows) this.#blocks[Math.floor(this.#placeOf(id) / blockSize)] = undefined
  }

  #order(): void {
    this.#ids = [...this.#entries.keys()].sort()
    this.#blocks = Array(Math.ceil(this.#ids.length / blockSize)).fill(undefined)
  }

  /** By halves: the ids are in order. */
  #placeOf(id: string): number {
    let [low, high] = [0, this.#ids.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#ids[middle] as string) < id) low = middle + 1
      else high = middle
    }
    return low
  }

  async #make(): Promise<ReadyAnswer> {
    const pieces: Buffer[] = [start]
    const hashes: string[] = []
    let made = 0
    for (let i = 0; i < this.#blocks.length; i++) {
      let block = this.#blocks[i]
      if (!block) {
        block = this.#blockAt(i)
        this.#blocks[i] = block
        if (++made % blocksInATurn === 0) await nextTurn()
      }
      pieces.push(block.bytes)
      hashes.push(block.hash)
    }
    pieces.push(end)
    return new ReadyAnswer(`W/"${hash('sha1', hashes.join(), 'base64url')}"`, pieces)
  }

  #blockAt(i: number): Block {
    const ids = this.#ids.slice(i * blockSize, (i + 1) * blockSize)
    const texts = ids.map((id) => this.#entries.get(id)?.text).join()
    const bytes = Buffer.from(i > 0 ? `,${texts}` : texts)
    return { bytes, hash: hash('sha1', bytes, 'base64url') }
  }
}

const entryOf = (row: ListedEndpoint): Entry => ({ room: row.room_id, text: JSON.stringify(basicEndpointView(row)) })

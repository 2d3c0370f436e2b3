// Endpoints as answers that only have to be sent, kept until something of them is written.

import { etagOf } from '../../context/if-match.ts'
import { mustFind } from '../../core/failure.ts'
import type { Database } from '../../db/db.ts'
import type { WrittenRows } from '../../db/written-rows.ts'
import { ReadyAnswer } from '../../http/answer.ts'
import { EndpointListCache } from './endpoint-list-cache.ts'
import { findEndpoint } from './store.ts'
import { endpointText } from './view.ts'

interface Kept {
  readonly org: number
  readonly room: number | null
  readonly answer: ReadyAnswer
}

/** Bytes of answers that are kept at most, the oldest go first: about a hundred thousand endpoints, if somebody asks for each. */
const most = 160 * 1024 * 1024

export class EndpointCache {
  readonly #db: Database
  /** By id, which no two organisations share. */
  readonly #answers = new Map<string, Kept>()
  readonly #lists = new Map<number, EndpointListCache>()
  #length = 0
  /** Grows with every write: what was read before one, and comes after it, is not kept. */
  #writes = 0

  constructor(db: Database) {
    this.#db = db
    db.onWrite('endpoints', (written) => this.#written(written, written.where.id, written.where.room_id))
    // An endpoint shows the name of its room.
    db.onWrite('rooms', (written) => this.#written(written, undefined, written.where.id))
  }

  one(org: number, id: string): ReadyAnswer | Promise<ReadyAnswer> {
    const kept = this.#answers.get(id)
    return kept?.org === org ? kept.answer : this.#read(org, id)
  }

  list(org: number): ReadyAnswer | Promise<ReadyAnswer> {
    let list = this.#lists.get(org)
    if (!list) {
      list = new EndpointListCache(this.#db.forOrg(org))
      this.#lists.set(org, list)
    }
    return list.answer()
  }

  /** Nothing stays of who does not ask any more. */
  clear(): void {
    this.#writes++
    this.#answers.clear()
    this.#length = 0
    for (const list of this.#lists.values()) list.forgetAll()
    this.#lists.clear()
  }

  async #read(org: number, id: string): Promise<ReadyAnswer> {
    const writes = this.#writes
    const row = mustFind(await findEndpoint(this.#db.forOrg(org), id), `endpoint ${id}`)
    const answer = new ReadyAnswer(etagOf(row.version), endpointText(row, row.room_name))
    if (writes === this.#writes) this.#keep(id, { org, room: row.room_id, answer })
    return answer
  }

  #keep(id: string, kept: Kept): void {
    this.#drop(id)
    this.#answers.set(id, kept)
    this.#length += kept.answer.lengthBytes
    for (const oldest of this.#answers.keys()) {
      if (this.#length <= most) return
      this.#drop(oldest)
    }
  }

  #drop(id: string): void {
    const kept = this.#answers.get(id)
    if (!kept) return
    this.#answers.delete(id)
    this.#length -= kept.answer.lengthBytes
  }

  #written({ org }: WrittenRows, id: unknown, room: unknown): void {
    this.#writes++
    if (org === undefined) {
      this.clear()
      return
    }
    if (typeof id === 'string') this.#drop(id)
    else {
      for (const [other, kept] of this.#answers) {
        if (kept.org === org && (room === undefined || kept.room === room)) this.#drop(other)
      }
    }
    const list = this.#lists.get(org)
    if (typeof id === 'string') list?.forget(id)
    else if (typeof room === 'number') list?.forgetRoom(room)
    else list?.forgetAll()
  }
}

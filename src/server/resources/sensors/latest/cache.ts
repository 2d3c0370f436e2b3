// The latest samples of organisations in memory, as text that only has to be sent, and where their endpoints are.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Database } from '../../../db/db.ts'
import type { ReadyAnswer } from '../../../http/answer.ts'
import { findHead } from '../../audit/store.ts'
import type { SampleRow } from '../ingest/store.ts'
import { entryText, sampleText } from '../view.ts'
import { listEndpointsAfter, listLatest, listRoomsAfter } from './store.ts'

/** A sample, and its entry in the answer of each base, made when it is first asked for. */
class Kept {
  readonly row: SampleRow
  #entry: string | undefined
  #legacyEntry: string | undefined

  constructor(row: SampleRow) {
    this.row = row
  }

  /** `id` is that of its endpoint, always the same. */
  entry(id: string, legacy: boolean): string {
    if (legacy) {
      this.#legacyEntry ??= inOnePiece(entryText(id, sampleText(this.row, true)))
      return this.#legacyEntry
    }
    this.#entry ??= inOnePiece(entryText(id, sampleText(this.row, false)))
    return this.#entry
  }
}
/** By the number of their endpoint, which may be gone meanwhile. */
export type SamplesByNumber = ReadonlyMap<number, Kept>

interface KeptSamples {
  readonly byNumber: Map<number, Kept>
  readonly loaded: Promise<void>
  /** How many came since. */
  offered: number
  readonly whole: Map<string, { readonly plan: RoomPlan; readonly offered: number; readonly answer: ReadyAnswer }>
}

export interface PlannedRoom {
  readonly id: number
  readonly location: number | null
  readonly region: number | null
  /** Numbers of the endpoints in it. */
  readonly endpoints: readonly number[]
}
export interface PlannedEndpoint {
  readonly id: string
  readonly number: number
  readonly room: PlannedRoom | undefined
}
/** Which rooms and endpoints there are and where, both in the order of their ids. */
export interface RoomPlan {
  readonly rooms: readonly PlannedRoom[]
  readonly endpoints: readonly PlannedEndpoint[]
}

/** Few enough for a millisecond or two: on SQLite nothing else runs while a page is read. */
const pageSize = 500

export class LatestSamples {
  readonly #db: Database
  readonly #samples = new Map<number, KeptSamples>()
  readonly #plans = new Map<number, { readonly head: number | undefined; readonly plan: Promise<RoomPlan> }>()

  constructor(db: Database) {
    this.#db = db
  }

  /** To be called after the commit of a sample. What nobody asked for yet is in the database only. */
  offer(org: number, endpoint: number, row: SampleRow): void {
    const kept = this.#samples.get(org)
    const present = kept?.byNumber.get(endpoint)
    if (!kept || (present && present.row.timestamp >= row.timestamp)) return
    kept.byNumber.set(endpoint, new Kept(row))
    kept.offered++
  }

  /** An answer with everybody in it, made anew when a sample came or somebody moved. `name` says which one. */
  async whole(
    org: number,
    name: string,
    make: (plan: RoomPlan, samples: SamplesByNumber) => Promise<ReadyAnswer>,
  ): Promise<ReadyAnswer> {
    const plan = await this.plan(org)
    const kept = await this.#loaded(org)
    const { offered } = kept
    const before = kept.whole.get(name)
    if (before?.plan === plan && before.offered === offered) return before.answer
    const answer = await make(plan, kept.byNumber)
    kept.whole.set(name, { plan, offered, answer })
    return answer
  }

  /** What is asked for after this is read anew: nothing stays of endpoints that are gone, or of who does not ask. */
  clear(): void {
    this.#samples.clear()
    this.#plans.clear()
  }

  async samples(org: number): Promise<SamplesByNumber> {
    return (await this.#loaded(org)).byNumber
  }

  async #loaded(org: number): Promise<KeptSamples> {
    let kept = this.#samples.get(org)
    if (!kept) {
      const byNumber = new Map<number, Kept>()
      kept = { byNumber, loaded: this.#loadSamples(org, byNumber), offered: 0, whole: new Map() }
      // It is there before the first page is read, so what is committed after that page is offered to it.
      keep(this.#samples, org, kept, kept.loaded)
    }
    await kept.loaded
    return kept
  }

  /** Every write that makes, moves or removes one of them is in the audit log: while that does not move, nor do they. */
  async plan(org: number): Promise<RoomPlan> {
    const head = (await findHead(this.#db.forOrg(org)))?.count
    let kept = this.#plans.get(org)
    if (!kept || kept.head !== head) {
      kept = { head, plan: this.#loadPlan(org) }
      keep(this.#plans, org, kept, kept.plan)
    }
    return kept.plan
  }

  async #loadSamples(org: number, byNumber: Map<number, Kept>): Promise<void> {
    const page = (after: number) => listLatest(this.#db.forOrg(org), { after, limit: pageSize })
    for await (const rows of paged(page, 0, (row) => row.endpoint)) {
      for (const row of rows) {
        const offered = byNumber.get(row.endpoint)
        if (!offered || offered.row.timestamp <= row.timestamp) byNumber.set(row.endpoint, new Kept(row))
      }
    }
  }

  async #loadPlan(org: number): Promise<RoomPlan> {
    const rooms = new Map<number, PlannedRoom & { endpoints: number[] }>()
    const pageOfRooms = (after: number) => listRoomsAfter(this.#db.forOrg(org), { after, limit: pageSize })
    for await (const rows of paged(pageOfRooms, 0, (row) => row.id)) {
      for (const { id, location_id, region_id } of rows) {
        rooms.set(id, { id, location: location_id, region: region_id, endpoints: [] })
      }
    }
    const endpoints: PlannedEndpoint[] = []
    const pageOfEndpoints = (after: string) => listEndpointsAfter(this.#db.forOrg(org), { after, limit: pageSize })
    for await (const rows of paged(pageOfEndpoints, '', (row) => row.id)) {
      for (const { id, number, room_id } of rows) {
        const room = room_id === null ? undefined : rooms.get(room_id)
        room?.endpoints.push(number)
        endpoints.push({ id, number, room })
      }
    }
    return { rooms: [...rooms.values()], endpoints }
  }
}

/** Until its loading fails: then whoever comes next tries again. */
function keep<K, V>(all: Map<K, V>, key: K, value: V, loading: Promise<unknown>): void {
  all.set(key, value)
  loading.catch(() => {
    if (all.get(key) === value) all.delete(key)
  })
}

/** Pages by key, with a turn of the event loop between two. */
async function* paged<R, K>(list: (after: K) => Promise<R[]>, first: K, keyOf: (row: R) => K): AsyncGenerator<R[]> {
  for (let after = first; ; ) {
    const rows = await list(after)
    yield rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageSize) return
    after = keyOf(last)
    await nextTurn()
  }
}

/** V8 keeps what was joined as a tree of its parts until somebody looks inside, and walks it again in every answer. */
function inOnePiece(text: string): string {
  if (text.charCodeAt(0) !== 0x7b) throw new Error(`not an object: ${text}`)
  return text
}

// The latest samples of organisations in memory, as text that only has to be sent, and where their endpoints are.

import type { Database } from '../../../db/db.ts'
import type { ReadyAnswer } from '../../../http/answer.ts'
import type { SampleRow } from '../ingest/store.ts'
import { entryText, sampleText } from '../view.ts'
import { cacheUnlessFailed, pageSize, readPages } from './load.ts'
import { type RoomPlan, RoomPlanCache } from './room-plan.ts'
import { listLatest } from './store.ts'

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
      this.#legacyEntry ??= entryText(id, sampleText(this.row, true))
      return this.#legacyEntry
    }
    this.#entry ??= entryText(id, sampleText(this.row, false))
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

export class LatestSamples {
  readonly #db: Database
  readonly #samples = new Map<number, KeptSamples>()
  readonly #plans: RoomPlanCache

  constructor(db: Database) {
    this.#db = db
    this.#plans = new RoomPlanCache(db)
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
      cacheUnlessFailed(this.#samples, org, kept, kept.loaded)
    }
    await kept.loaded
    return kept
  }

  plan(org: number): Promise<RoomPlan> {
    return this.#plans.plan(org)
  }

  async #loadSamples(org: number, byNumber: Map<number, Kept>): Promise<void> {
    const page = (after: number) => listLatest(this.#db.forOrg(org), { after, limit: pageSize })
    for await (const rows of readPages(page, 0, (row) => row.endpoint)) {
      for (const row of rows) {
        const offered = byNumber.get(row.endpoint)
        if (!offered || offered.row.timestamp <= row.timestamp) byNumber.set(row.endpoint, new Kept(row))
      }
    }
  }
}

// Caches the latest samples of organisations, each with its text in the bulk answers, and the bulk answers themselves.

import type { ReadyAnswer } from '../../context/answers.ts'
import type { Services } from '../../context/services.ts'
import type { Database } from '../../db/db.ts'
import type { StrictReads } from '../../nodes/strict-reads/strict-reads.ts'
import type { SampleRow } from '../ingest/store.ts'
import { endpointEntryText, sensorDataText } from '../view.ts'
import { cacheUnlessFailed, pageRows, readPages } from './load.ts'
import { type RoomPlan, RoomPlanCache } from './room-plan.ts'
import { listLatest, listLatestOf, listLatestTimestamps } from './store.ts'

/** A sample, and its entry in the answer of each base, which is written at the first request. */
class CachedSample {
  readonly row: SampleRow
  #entry: string | undefined
  #legacyEntry: string | undefined

  constructor(row: SampleRow) {
    this.row = row
  }

  /** `id` is the id of the sample's endpoint, the same in every call. */
  entry(id: string, legacy: boolean): string {
    if (legacy) {
      this.#legacyEntry ??= endpointEntryText(id, sensorDataText(this.row, true))
      return this.#legacyEntry
    }
    this.#entry ??= endpointEntryText(id, sensorDataText(this.row, false))
    return this.#entry
  }
}
/** The key is the number of the endpoint, which may have been deleted since. */
export type SamplesByNumber = ReadonlyMap<number, CachedSample>

interface OrgSamples {
  readonly byNumber: Map<number, CachedSample>
  loaded: Promise<void>
  /** When the last read from the database began, by the monotonic clock. */
  readAtMs: number
  /** Grows with every new sample. */
  revision: number
  readonly answers: Map<string, { readonly plan: RoomPlan; readonly revision: number; readonly answer: ReadyAnswer }>
}

/**
 * On PostgreSQL other nodes store samples too, and send no message about it: there may be thousands in a second. So a sample of another node
 * may be missing for this long. [contract 5.2.bulk]
 */
const maxAgeMs = 1000
/** The limit is higher than that for samples, because a timestamp is much smaller. */
const timestampPageRows = 5000

export class LatestSampleCache {
  readonly #db: Database
  readonly #reads: StrictReads
  readonly #samples = new Map<number, OrgSamples>()
  readonly #plans: RoomPlanCache

  constructor({ db, reads }: Pick<Services, 'db' | 'reads'>) {
    this.#db = db
    this.#reads = reads
    this.#plans = new RoomPlanCache(db)
  }

  /** Called after the commit of a sample. Samples of an organisation are cached from its first request on. */
  offer(org: number, endpoint: number, row: SampleRow): void {
    const cached = this.#samples.get(org)
    const present = cached?.byNumber.get(endpoint)
    if (!cached || (present && present.row.timestamp >= row.timestamp)) return
    cached.byNumber.set(endpoint, new CachedSample(row))
    cached.revision++
  }

  /** An answer with all endpoints, cached under `name`. `make` is called again after a new sample or a new plan. */
  async wholeAnswer(
    org: number,
    name: string,
    make: (plan: RoomPlan, samples: SamplesByNumber) => Promise<ReadyAnswer>,
  ): Promise<ReadyAnswer> {
    const plan = await this.plan(org)
    const { byNumber, revision, answers } = await this.#loaded(org)
    const before = answers.get(name)
    if (before?.plan === plan && before.revision === revision) return before.answer
    const answer = await make(plan, byNumber)
    answers.set(name, { plan, revision, answer })
    return answer
  }

  /** Later requests read from the database again. This also frees the memory of deleted endpoints and of unused organisations. */
  clear(): void {
    this.#samples.clear()
    this.#plans.clear()
  }

  async samples(org: number): Promise<SamplesByNumber> {
    return (await this.#loaded(org)).byNumber
  }

  async #loaded(org: number): Promise<OrgSamples> {
    let cached = this.#samples.get(org)
    if (!cached) {
      const byNumber = new Map<number, CachedSample>()
      const readAtMs = performance.now()
      cached = { byNumber, loaded: this.#loadSamples(org, byNumber), readAtMs, revision: 0, answers: new Map() }
      // The entry exists before the first page is read, so samples that are committed during the load are added by offer().
      cacheUnlessFailed(this.#samples, org, cached, cached.loaded)
    } else if (this.#db.engine === 'postgres' && performance.now() - cached.readAtMs >= maxAgeMs) {
      cached.readAtMs = performance.now()
      cached.loaded = this.#readNewer(org, cached.byNumber, cached.loaded)
      cacheUnlessFailed(this.#samples, org, cached, cached.loaded)
    }
    await cached.loaded
    return cached
  }

  async plan(org: number): Promise<RoomPlan> {
    await this.#reads.confirm(org)
    return this.#plans.plan(org)
  }

  async #loadSamples(org: number, byNumber: Map<number, CachedSample>): Promise<void> {
    const page = (after: number) => listLatest(this.#db.forOrg(org), { after, limit: pageRows })
    for await (const rows of readPages(page, 0, (row) => row.endpoint)) {
      for (const row of rows) {
        const offered = byNumber.get(row.endpoint)
        if (!offered || offered.row.timestamp <= row.timestamp) byNumber.set(row.endpoint, new CachedSample(row))
      }
    }
  }

  /** Reads the samples that other nodes have stored since the last read. */
  async #readNewer(org: number, byNumber: SamplesByNumber, before: Promise<void>): Promise<void> {
    await before
    const db = this.#db.forOrg(org)
    const page = (after: number) => listLatestTimestamps(db, { after, limit: timestampPageRows })
    for await (const rows of readPages(page, 0, (row) => row.endpoint, timestampPageRows)) {
      const newer = rows.filter(({ endpoint, timestamp }) => timestamp > (byNumber.get(endpoint)?.row.timestamp ?? -1))
      for (let at = 0; at < newer.length; at += pageRows) {
        const endpoints = newer.slice(at, at + pageRows).map(({ endpoint }) => endpoint)
        for (const row of await listLatestOf(db, { endpoints })) this.offer(org, row.endpoint, row)
      }
    }
  }
}

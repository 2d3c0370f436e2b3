// What devices measured: checked, written together with what others sent, and durable before it is acknowledged. [contract 5.2]

import type { DeviceSample, SampleRefused } from '../../../../contract/device.ts'
import { modelOf } from '../../../../contract/models.ts'
import type { Services } from '../../../context/services.ts'
import type { NumberRow } from '../../../db/insert-many.ts'
import type { Device, DeviceConnection } from '../../../devices/mqtt/handlers.ts'
import type { LatestSamples } from '../latest/cache.ts'
import type { Horizon } from '../rollups/horizon.ts'
import { makePartition } from '../rollups/partitions.ts'
import { insertDue } from '../rollups/store.ts'
import { days, quarterLength, quarters, slots } from '../slots.ts'
import { sampleView } from '../view.ts'
import { sampleProblem, sampleRowOf } from './check.ts'
import { insertSamples, type SampleRow, updateLatest, updateLatestTold, valuesOf } from './store.ts'

/** For a partition that was not made ahead, in milliseconds. */
const longWait = 1000

/** Of one batch, in samples: on SQLite nothing else runs while it is written. */
const largestBatch = 1000

/** Endpoints that have a newer sample than before; undefined if nobody wanted to know. */
type Told = Awaited<ReturnType<typeof updateLatestTold>>

interface Newest {
  readonly org: number
  readonly endpoint: number
  readonly sample: SampleRow
}

/** What is written with the same statements. Works of a commit may run twice: after it was closed nothing is added. */
class Batch {
  readonly samples: NumberRow[] = []
  readonly newest = new Map<string, Newest>()
  readonly due: NumberRow[] = []
  readonly days = new Set<number>()
  isClosed = false
  done!: Promise<void>

  add({ org, id, number }: Device, rows: readonly SampleRow[]): void {
    let newest = this.newest.get(id)?.sample
    let quarter: number | undefined
    for (const row of rows) {
      this.samples.push(valuesOf(row, org.key, slots.at(row.timestamp), number))
      if (newest === undefined || row.timestamp > newest.timestamp) newest = row
      if (quarter !== quarters.at(row.timestamp)) {
        quarter = quarters.at(row.timestamp)
        this.due.push([org.key, number, quarter])
        this.days.add(days.at(row.timestamp))
      }
    }
    if (newest) this.newest.set(id, { org: org.key, endpoint: number, sample: newest })
    if (this.samples.length >= largestBatch) this.isClosed = true
  }
}

export class SampleIntake {
  readonly #ground: Services
  readonly #latest: LatestSamples
  readonly #horizon: Horizon
  #batch: Batch | undefined
  /** Days that PostgreSQL has a place for. */
  readonly #days = new Set<number>()
  #making: Promise<void> = Promise.resolve()
  /** Samples since the start, for whoever watches. */
  stored = 0
  refused = 0

  constructor(services: Services, latest: LatestSamples, horizon: Horizon) {
    this.#ground = services
    this.#latest = latest
    this.#horizon = horizon
  }

  /**
   * Resolves when every accepted sample is committed; what was refused, and why, is for the device to read. What has the
   * time of a sample that is there already changes nothing; what comes late goes to the history only.
   */
  async receive(
    { device }: DeviceConnection,
    { samples }: { samples: readonly DeviceSample[] },
  ): Promise<SampleRefused | undefined> {
    const { clock, settings } = this.#ground
    const now = Math.floor(clock.now() / 1000)
    const from = Math.max(now - settings.samplesKept, this.#horizon.samples + quarterLength)
    const model = modelOf(device.model)
    const rows: SampleRow[] = []
    const refused: SampleRefused['refused'] = []
    for (const sample of samples) {
      const reason = sampleProblem(sample, model, now, from)
      if (reason === undefined) rows.push(sampleRowOf(sample, model))
      else refused.push({ timestamp: sample.timestamp, reason })
    }
    // Nothing is awaited before this: messages get in line in the order in which they came.
    if (rows.length > 0) await this.#put(device, rows)
    this.refused += refused.length
    return refused.length > 0 ? { refused } : undefined
  }

  #put(device: Device, rows: readonly SampleRow[]): Promise<void> {
    if (!this.#batch || this.#batch.isClosed) {
      this.#batch = new Batch()
      this.#batch.done = this.#write(this.#batch)
    }
    this.#batch.add(device, rows)
    return this.#batch.done
  }

  async #write(batch: Batch): Promise<void> {
    let told: Told | undefined
    try {
      told = await this.#commit(batch)
    } catch (error) {
      // It may have been written all the same: then the database knows better.
      this.#latest.clear()
      throw error
    } finally {
      // Its work may never have begun. Who comes now must not share its fate.
      batch.isClosed = true
    }
    this.stored += batch.samples.length
    for (const { org, endpoint, sample } of batch.newest.values()) this.#latest.offer(org, endpoint, sample)
    if (told) this.#announce(batch, told)
  }

  /** What came late is history: only those that have a newer one now are told about. [contract 6.events] */
  #announce(batch: Batch, told: Told): void {
    const isNew = new Set(told.map(({ org, endpoint }) => `${org}/${endpoint}`))
    for (const [endpointId, { org, endpoint, sample }] of batch.newest) {
      if (!isNew.has(`${org}/${endpoint}`)) continue
      const events = this.#ground.feed.forOrg(org)
      if (events.isFollowed()) events.publish([{ type: 'sample', endpointId, sample: sampleView(sample) }])
    }
  }

  async #commit(batch: Batch): Promise<Told | undefined> {
    try {
      return await this.#insert(batch)
    } catch (error) {
      if (!lacksPartition(error)) throw error
      if (!(error instanceof NoPartition)) for (const day of batch.days) this.#days.delete(day)
      // By itself, and not in the commit that everybody shares: a backup may hold the table.
      this.#making = this.#making.catch(() => {}).then(() => this.#makePartitions(batch.days))
      await this.#making
      return await this.#insert(batch)
    }
  }

  async #makePartitions(days: ReadonlySet<number>): Promise<void> {
    for (const day of days) {
      if (!this.#days.has(day) && (await makePartition(this.#ground.db, day, longWait))) this.#days.add(day)
    }
  }

  #insert(batch: Batch): Promise<Told | undefined> {
    return this.#ground.db.systemTransaction(async (tx) => {
      batch.isClosed = true
      if (tx.engine === 'postgres' && !batch.days.isSubsetOf(this.#days)) throw new NoPartition()
      await insertSamples(tx, batch.samples)
      const newest = [...batch.newest.values()]
      const rows = newest.map(({ org, endpoint, sample }) => valuesOf(sample, org, endpoint))
      const isFollowed = newest.some(({ org }) => this.#ground.feed.forOrg(org).isFollowed())
      const told = isFollowed ? await updateLatestTold(tx, rows) : void (await updateLatest(tx, rows))
      // A quarter is due from the first sample that its rollup does not have.
      await insertDue(tx, batch.due)
      return told
    })
  }
}

/** PostgreSQL may have no partition for the day of a sample, or somebody holds the table for so long that none can be made. */
class NoPartition extends Error {
  override readonly message =
    'there is no partition for the day of a sample, and none could be made, as another session holds the table: end it, or wait'
}
const lacksPartition = (error: unknown): boolean =>
  error instanceof NoPartition || (error as Error).message.startsWith('no partition of relation')

// Takes in the samples of devices: checks them, and writes them in batches. devices/mqtt/ingest.ts acknowledges them when they are durable. [contract 5.2]

import type { DeviceSample, SampleRefused } from '../../../contract/device/protocol.ts'
import type { Services } from '../../context/services.ts'
import { days, quarterSeconds, quarters, slots } from '../../core/time/slots.ts'
import type { NumberRow } from '../../db/queries/insert-many.ts'
import { newlyMeasured } from '../../devices/device-sensors.ts'
import { ConnectionReplaced, type Device, type DeviceConnection } from '../../devices/mqtt/handlers.ts'
import { maxUnansweredMessages } from '../../devices/mqtt/limits/back-pressure.ts'
import { storeMeasured } from '../../fleet/endpoints/presence.ts'
import type { LatestSampleCache } from '../latest/cache.ts'
import type { Horizon } from '../rollups/horizon.ts'
import { makePartition } from '../rollups/partitions.ts'
import { insertDue } from '../rollups/store.ts'
import { measuredIn, measuredSet, sampleView } from '../view.ts'
import { sampleProblem, sampleRowOf, sampleRulesOf } from './check.ts'
import { insertSamples, listRevoked, type SampleRow, updateLatest, updateLatestReturning, valuesOf } from './store.ts'

/** How long a batch waits for the lock to create a partition that was not created ahead. */
const partitionLockTimeoutMs = 1000

/** A batch is closed at this size: on SQLite nothing else runs while it is written. */
const maxSamplesPerBatch = 1000

/**
 * On PostgreSQL a batch waits this long for more samples, because a commit costs more than its samples. A device that sends once a
 * minute does not notice. On SQLite a commit is cheap, and samples of the same turn of the event loop share it anyway.
 */
const defaultGatherMs = { sqlite: 0, postgres: 25 }

/** The endpoints whose latest sample was replaced. */
type UpdatedEndpoints = Awaited<ReturnType<typeof updateLatestReturning>>

interface Newest {
  /** Messages of the endpoint in the batch. */
  readonly messages: number
  readonly org: number
  readonly endpoint: number
  readonly sample: SampleRow
}

interface Message {
  readonly device: Device
  /** The hash of the credential that the connection used, in hexadecimal. */
  readonly credential: string
  readonly rows: readonly SampleRow[]
}

interface Committed {
  readonly batch: Batch
  /** Set if a reader follows the events of one of the organisations. */
  readonly updated: UpdatedEndpoints | undefined
}

/** Samples that are written with the same statements. A commit may be retried, so nothing is added after the batch is closed. */
class Batch {
  readonly samples: NumberRow[] = []
  readonly newest = new Map<string, Newest>()
  readonly due: NumberRow[] = []
  readonly days = new Set<number>()
  readonly credentials = new Set<string>()
  readonly #messages: Message[] = []
  isClosed = false
  /** Resolves when the messages of this batch were written. */
  done!: Promise<Batch>
  readonly #full = Promise.withResolvers<void>()

  add(message: Message): void {
    const { device, rows, credential } = message
    const { org, id, number } = device
    this.#messages.push(message)
    this.credentials.add(credential)
    const before = this.newest.get(id)
    let newest = before?.sample
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
    const messages = (before?.messages ?? 0) + 1
    if (newest) this.newest.set(id, { org: org.key, endpoint: number, sample: newest, messages })
    // This device may send no more before an answer: it has a backlog, so the batch is written now.
    if (messages >= maxUnansweredMessages) this.#full.resolve()
    if (this.samples.length < maxSamplesPerBatch) return
    this.isClosed = true
    this.#full.resolve()
  }

  /** Returns a closed batch of the other messages. */
  without(revoked: ReadonlySet<string>): Batch {
    const rest = new Batch()
    for (const message of this.#messages) if (!revoked.has(message.credential)) rest.add(message)
    rest.isClosed = true
    return rest
  }

  /** Resolves when the batch is full or a device has a backlog, at the latest after `maxMs`. */
  async gather(maxMs: number): Promise<void> {
    const timer = setTimeout(this.#full.resolve, maxMs)
    await this.#full.promise
    clearTimeout(timer)
  }
}

export class SampleIntake {
  readonly #services: Services
  readonly #latest: LatestSampleCache
  readonly #horizon: Horizon
  readonly #gatherMs: number
  #batch: Batch | undefined
  /** Days that have a partition on PostgreSQL. */
  readonly #days = new Set<number>()
  #partitionCreation: Promise<void> = Promise.resolve()
  /** Samples since the start, for the metrics. */
  stored = 0
  refused = 0

  constructor(
    services: Services,
    latest: LatestSampleCache,
    horizon: Horizon,
    gatherMs: number = defaultGatherMs[services.db.engine],
  ) {
    this.#gatherMs = gatherMs
    this.#services = services
    this.#latest = latest
    this.#horizon = horizon
  }

  /**
   * Resolves when every accepted sample is committed, with the refused samples and the reasons for the device. A sample with the
   * timestamp of a stored one changes nothing; a late sample goes to the history only. The device may have another connection by now,
   * because a sample is true whatever connection it comes over, but its credential must still be valid.
   *
   * Nothing is awaited before the message is queued, so messages are queued in the order in which they arrived.
   */
  receive(
    { device, credentialHash }: DeviceConnection,
    { samples }: { samples: readonly DeviceSample[] },
  ): Promise<SampleRefused | undefined> {
    const { clock, settings } = this.#services
    const now = Math.floor(clock.now() / 1000)
    const from = Math.max(now - settings.sampleRetentionSeconds, this.#horizon.samples + quarterSeconds)
    const rules = sampleRulesOf(device.model, device.sensors)
    const rows: SampleRow[] = []
    const refused: SampleRefused['refused'] = []
    for (const sample of samples) {
      const reason = sampleProblem(sample, rules, now, from)
      if (reason === undefined) rows.push(sampleRowOf(sample, rules))
      else refused.push({ timestamp: sample.timestamp, reason })
    }
    const batch = rows.length > 0 ? this.#enqueue({ device, rows, credential: credentialHash }) : undefined
    const sent = () => rows.reduce((set, row) => set | measuredSet(row), 0)
    return (batch?.done ?? Promise.resolve(undefined)).then((written) => {
      if (written && !written.credentials.has(credentialHash)) throw new ConnectionReplaced()
      const added = newlyMeasured(device.model, device.sensors, sent)
      this.refused += refused.length
      const answer = refused.length > 0 ? { refused } : undefined
      return added === 0 ? answer : storeMeasured(this.#services, device, added).then(() => answer)
    })
  }

  #enqueue(message: Message): Batch {
    if (!this.#batch || this.#batch.isClosed) {
      this.#batch = new Batch()
      this.#batch.done = this.#write(this.#batch)
    }
    this.#batch.add(message)
    return this.#batch
  }

  async #write(batch: Batch): Promise<Batch> {
    const waitMs = this.#gatherMs
    if (waitMs > 0) await batch.gather(waitMs)
    let committed: Committed
    try {
      committed = await this.#commit(batch)
    } catch (error) {
      // The batch may have been written all the same, so the cached samples are read again from the database.
      this.#latest.clear()
      throw error
    } finally {
      // The transaction may never have begun. Later samples must go to another batch.
      batch.isClosed = true
    }
    const { batch: written, updated } = committed
    this.stored += written.samples.length
    for (const { org, endpoint, sample } of written.newest.values()) this.#latest.offer(org, endpoint, sample)
    if (updated) this.#publishEvents(written, updated)
    return written
  }

  /** Only a newer latest sample is an event; a late sample is not. [contract 6.events] */
  #publishEvents(batch: Batch, updated: UpdatedEndpoints): void {
    const isNew = new Set(updated.map(({ org, endpoint }) => `${org}/${endpoint}`))
    for (const [endpointId, { org, endpoint, sample }] of batch.newest) {
      if (!isNew.has(`${org}/${endpoint}`)) continue
      const events = this.#services.feed.forOrg(org)
      if (events.isFollowed())
        events.publish([{ type: 'sample', endpointId, sample: sampleView(sample), measured: measuredIn(sample) }])
    }
  }

  async #commit(batch: Batch): Promise<Committed> {
    try {
      return await this.#insert(batch)
    } catch (error) {
      if (!lacksPartition(error)) throw error
      if (!(error instanceof MissingPartition)) for (const day of batch.days) this.#days.delete(day)
      // Partitions are created outside of the shared commit, because a backup may hold the table.
      this.#partitionCreation = this.#partitionCreation.catch(() => {}).then(() => this.#makePartitions(batch.days))
      await this.#partitionCreation
      return await this.#insert(batch)
    }
  }

  async #makePartitions(days: ReadonlySet<number>): Promise<void> {
    for (const day of days) {
      if (!this.#days.has(day) && (await makePartition(this.#services.db, day, partitionLockTimeoutMs)))
        this.#days.add(day)
    }
  }

  #insert(gathered: Batch): Promise<Committed> {
    return this.#services.db.systemTransaction(async (tx) => {
      gathered.isClosed = true
      const revoked = await listRevoked(tx, { hashes: [...gathered.credentials] })
      const batch = revoked.length === 0 ? gathered : gathered.without(new Set(revoked.map(({ hash }) => hash)))
      if (tx.engine === 'postgres' && !batch.days.isSubsetOf(this.#days)) throw new MissingPartition()
      const newest = [...batch.newest.values()]
      // Nodes that write the same rows in different orders would wait for each other. SQLite has one writer.
      if (tx.engine === 'postgres') {
        for (const list of [batch.samples, batch.due]) list.sort(compareKeys)
        newest.sort((a, b) => a.org - b.org || a.endpoint - b.endpoint)
      }
      await insertSamples(tx, batch.samples)
      const rows = newest.map(({ org, endpoint, sample }) => valuesOf(sample, org, endpoint))
      const isFollowed = newest.some(({ org }) => this.#services.feed.forOrg(org).isFollowed())
      let updated: UpdatedEndpoints | undefined
      if (isFollowed) updated = await updateLatestReturning(tx, rows)
      else await updateLatest(tx, rows)
      // A quarter is due as soon as its rollup lacks a sample.
      await insertDue(tx, tx.engine === 'postgres' ? withoutRepetitions(batch.due) : batch.due)
      return { batch, updated }
    })
  }
}

/** The columns of the longest key: organisation, slot, endpoint, timestamp. */
const keyColumns = [0, 1, 2, 3] as const

/** Rows with the same key stay in their order, because the first of them counts. */
function compareKeys(a: NumberRow, b: NumberRow): number {
  for (const i of keyColumns) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** The rows must be sorted. */
const withoutRepetitions = (rows: readonly NumberRow[]): NumberRow[] =>
  rows.filter((row, i) => i === 0 || compareKeys(rows[i - 1] as NumberRow, row) !== 0)

/** PostgreSQL has no partition for the day of a sample. Another session may hold the table for so long that none can be created. */
class MissingPartition extends Error {
  override readonly message =
    'There is no partition for the day of a sample, and none could be created, because another session holds the table samples. End that session, or wait.'
}
const lacksPartition = (error: unknown): boolean =>
  error instanceof MissingPartition || (error as Error).message.startsWith('no partition of relation')

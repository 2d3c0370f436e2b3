// PostgreSQL: creates and drops the partitions of raw samples, one for each day (UTC), ahead of the samples.
import type { Services } from '../../context/services.ts'
import { days, slots } from '../../core/time/slots.ts'
import type { Database } from '../../db/db.ts'
import { maxAheadSeconds } from '../ingest/check.ts'
import { listPartitions } from './retention-store.ts'

/** A backup that holds the table all night must not leave tomorrow without a partition. */
const daysAhead = 2

/** Short, because every later query on the table queues behind a statement that waits for its lock. */
const lockTimeoutMs = 100

/** False if another session holds the table: the caller tries again later. */
export function makePartition(db: Database, day: number, timeoutMs: number): Promise<boolean> {
  const [from, to] = [slots.at(days.start(day)), slots.at(days.start(day + 1))]
  return db.alterTable(
    `create table if not exists ${nameOf(day)} partition of samples for values from (${from}) to (${to})`,
    timeoutMs,
  )
}

export const dropPartition = (db: Database, day: number): Promise<boolean> =>
  db.alterTable(`drop table if exists ${nameOf(day)}`, lockTimeoutMs)

/** The days that have a partition, the oldest first. */
export async function listDays(db: Database): Promise<number[]> {
  const names = await listPartitions(db.system)
  return names.map(({ name }) => Number(name.slice(nameOf('').length))).sort((a, b) => a - b)
}

const nameOf = (day: number | '') => `samples_day_${day}`

/** Creates the missing partitions of all days whose samples are accepted, the latest first. */
export async function makePartitions({ db, clock, settings }: Services, signal: AbortSignal): Promise<void> {
  const now = clock.now() / 1000
  const present = new Set(await listDays(db))
  const oldest = days.at(now - settings.sampleRetentionSeconds)
  for (let day = days.at(now + maxAheadSeconds) + daysAhead; day >= oldest; day--) {
    if (signal.aborted) return
    if (!present.has(day) && !(await makePartition(db, day, lockTimeoutMs))) return
  }
}

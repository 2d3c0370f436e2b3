// PostgreSQL: a partition of raw samples for each day (UTC). They are made ahead, so that no sample waits for one.
import type { Services } from '../../../context/services.ts'
import type { Database } from '../../../db/db.ts'
import { maxAheadSeconds } from '../ingest/check.ts'
import { days, slots } from '../slots.ts'
import { listPartitions } from './retention-store.ts'

/** A backup that takes all night must not leave tomorrow without a place. */
const daysAhead = 2

/** While it waits for somebody who holds the table, everybody else waits behind it. In milliseconds. */
const briefly = 100

/** False when somebody holds the table: then it is tried again later. */
export function makePartition(db: Database, day: number, wait: number): Promise<boolean> {
  const [from, to] = [slots.at(days.start(day)), slots.at(days.start(day + 1))]
  return db.alterTable(
    `create table if not exists ${nameOf(day)} partition of samples for values from (${from}) to (${to})`,
    wait,
  )
}

export const dropPartition = (db: Database, day: number): Promise<boolean> =>
  db.alterTable(`drop table if exists ${nameOf(day)}`, briefly)

/** The days that have one, the oldest first. */
export async function listDays(db: Database): Promise<number[]> {
  const names = await listPartitions(db.system)
  return names.map((name) => Number(name.slice(nameOf('').length))).sort((a, b) => a - b)
}

const nameOf = (day: number | '') => `samples_day_${day}`

/** Of every day of which samples are taken, the latest first. */
export async function makePartitions({ db, clock, settings }: Services, signal: AbortSignal): Promise<void> {
  const now = clock.now() / 1000
  const present = new Set(await listDays(db))
  const oldest = days.at(now - settings.samplesKept)
  for (let day = days.at(now + maxAheadSeconds) + daysAhead; day >= oldest; day--) {
    if (signal.aborted) return
    if (!present.has(day) && !(await makePartition(db, day, briefly))) return
  }
}

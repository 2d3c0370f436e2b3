// Deletes samples and rollups that are older than their retention, in small commits that do not block others.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { daySeconds, hourSeconds } from '../../../contract/durations.ts'
import type { Services } from '../../context/services.ts'
import { repeatSteps } from '../../core/repeat.ts'
import { days, hours, quarters, slots } from '../../core/time/slots.ts'
import { dayOf } from '../../core/time/time-zone.ts'
import type { Database } from '../../db/db.ts'
import type { OrgDatabase } from '../../db/org-database.ts'
import { listOrgs } from '../../journal/orgs/store.ts'
import type { Horizon } from './horizon.ts'
import { dropPartition, listDays } from './partitions.ts'
import {
  deleteFromSlot,
  deleteOrphanedLatest,
  deleteRollups,
  findNextRollup,
  findOldestSlot,
} from './retention-store.ts'
import { deleteRoomDaysBefore } from './room-days-store.ts'
import type { RollupTable } from './store.ts'

/** Rows that one commit deletes: on SQLite nothing else runs during it. */
const maxRowsPerCommit = 2000
/** Endpoints whose rollups one commit deletes, and slots of each. */
const endpointsPerCommit = 20
/** Each of these rows has hundreds of bytes. */
const roomDaysPerCommit = 500
const slotsPerCommit = maxRowsPerCommit / endpointsPerCommit

/** Samples stay a little longer: a late one may make its quarter due, which is then computed from all its samples. */
const extraSampleSeconds = hourSeconds
/** Quarters stay as long as their day may be computed again, in any time zone. */
const extraQuarterSeconds = 2 * daySeconds

/** In Unix seconds: raw samples from before this time are deleted. */
export const sampleDeletionTime = ({ clock, settings }: Services): number =>
  Math.floor(clock.now() / 1000) - settings.sampleRetentionSeconds - extraSampleSeconds

/** Must be called after the due quarters of these samples were rolled up. */
export async function deleteOldSamples(services: Services, horizon: Horizon, signal?: AbortSignal): Promise<void> {
  const { db, clock, settings } = services
  const now = Math.floor(clock.now() / 1000)
  const samplesBefore = sampleDeletionTime(services)
  const quartersBefore = now - settings.rollupRetentionSeconds - extraQuarterSeconds
  await horizon.raise(db, samplesBefore, quartersBefore)
  if (db.engine === 'postgres') await dropOldPartitions(db, samplesBefore)
  for (const { key, timezone } of await listOrgs(db.system)) {
    const inOrg = { db: db.forOrg(key), signal }
    if (db.engine === 'sqlite') await deleteOldSlots(inOrg, samplesBefore)
    await deleteOldRollups(inOrg, 'sample_quarters', quarters.at(quartersBefore))
    await deleteOldRollups(inOrg, 'sample_hours', hours.at(quartersBefore))
    if (Number.isFinite(settings.dailyRetentionSeconds)) {
      await deleteOldRollups(inOrg, 'sample_days', dayOf(timezone, now - settings.dailyRetentionSeconds))
    }
  }
  const before = days.at(quartersBefore)
  const deleteDays = () => db.systemTransaction((tx) => deleteRoomDaysBefore(tx, { before, limit: roomDaysPerCommit }))
  await repeatSteps(roomDaysPerCommit, deleteDays, signal)
  const deleteOrphans = () => db.systemTransaction((tx) => deleteOrphanedLatest(tx, { limit: maxRowsPerCommit }))
  while (!signal?.aborted && (await deleteOrphans()).length === maxRowsPerCommit) {}
}

/** A partition that another session holds is dropped the next time. */
async function dropOldPartitions(db: Database, before: number): Promise<void> {
  for (const day of await listDays(db)) if (days.start(day + 1) <= before) await dropPartition(db, day)
}

interface InOrg {
  readonly db: OrgDatabase
  readonly signal: AbortSignal | undefined
}

async function deleteOldSlots({ db, signal }: InOrg, before: number): Promise<void> {
  while (!signal?.aborted) {
    const oldest = await findOldestSlot(db, { before: slots.at(before) })
    if (!oldest) return
    await db.telemetry((tx) => deleteFromSlot(tx, { slot: oldest.slot, count: maxRowsPerCommit }))
  }
}

/** Deletes endpoint by endpoint, in the order of the primary key. */
async function deleteOldRollups({ db, signal }: InOrg, table: RollupTable, before: number): Promise<void> {
  let last: number | undefined = 0
  while (last !== undefined && !signal?.aborted) {
    // SQLite answers synchronously: without this, the event loop would be blocked until all endpoints were visited.
    await nextTurn()
    const first: number = last
    const old: { endpoint: number; slot: number }[] = []
    for (let i = 0; i < endpointsPerCommit && last !== undefined; i++) {
      const next: { endpoint: number; slot: number } | undefined = await findNextRollup[table](db, { endpoint: last })
      last = next?.endpoint
      if (next && next.slot < before) old.push(next)
    }
    if (old.length === 0) continue
    await db.telemetry(async (tx) => {
      for (const { endpoint, slot } of old) {
        await deleteRollups[table](tx, { endpoint, before: Math.min(before, slot + slotsPerCommit) })
      }
    })
    // More old rollups of these endpoints may be left.
    last = first
  }
}

// Forgets what is older than it is kept, a piece at a time, so that nobody waits long for it.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Services } from '../../../context/services.ts'
import { dayOf } from '../../../core/time-zone.ts'
import type { Database, OrgDatabase } from '../../../db/db.ts'
import { listOrgs } from '../../orgs/store.ts'
import { dayLength, days, hourLength, hours, quarters, slots } from '../slots.ts'
import type { Horizon } from './horizon.ts'
import { dropPartition, listDays } from './partitions.ts'
import {
  deleteFromSlot,
  deleteOrphanedLatest,
  deleteRollups,
  findNextRollup,
  findOldestSlot,
} from './retention-store.ts'
import type { RollupTable } from './store.ts'

/** Rows that go in one commit: on SQLite nothing else runs meanwhile. */
const rowsAtOnce = 2000
/** Endpoints whose rollups are looked at, or deleted, in one go, and how many slots of each. */
const endpointsAtOnce = 20
const slotsAtOnce = rowsAtOnce / endpointsAtOnce

/** A late sample may still make its quarter due, which is then made of all its samples: they stay a little longer. */
const samplesLonger = hourLength
/** And a quarter as long as the day that it lies in may be made anew, wherever midnight is. */
const quartersLonger = 2 * dayLength

/** To be called every hour, after what is due was rolled up. */
export async function deleteOldSamples(services: Services, horizon: Horizon, signal?: AbortSignal): Promise<void> {
  const { db, clock, settings } = services
  const now = Math.floor(clock.now() / 1000)
  const samplesBefore = now - settings.samplesKept - samplesLonger
  const quartersBefore = now - settings.quartersKept - quartersLonger
  await horizon.raise(db, samplesBefore, quartersBefore)
  if (db.engine === 'postgres') await forgetPartitions(db, samplesBefore)
  for (const { key, timezone } of await listOrgs(db.system)) {
    const inOrg = { db: db.forOrg(key), signal }
    if (db.engine === 'sqlite') await forgetSlots(inOrg, samplesBefore)
    await forgetRollups(inOrg, 'sample_quarters', quarters.at(quartersBefore))
    await forgetRollups(inOrg, 'sample_hours', hours.at(quartersBefore))
    if (Number.isFinite(settings.daysKept)) {
      await forgetRollups(inOrg, 'sample_days', dayOf(timezone, now - settings.daysKept))
    }
  }
  const deleteOrphans = () => db.systemTransaction((tx) => deleteOrphanedLatest(tx, { limit: rowsAtOnce }))
  while (!signal?.aborted && (await deleteOrphans()).length === rowsAtOnce) {}
}

/** One that somebody holds goes the next time. */
async function forgetPartitions(db: Database, before: number): Promise<void> {
  for (const day of await listDays(db)) if (days.start(day + 1) <= before) await dropPartition(db, day)
}

interface InOrg {
  readonly db: OrgDatabase
  readonly signal: AbortSignal | undefined
}

async function forgetSlots({ db, signal }: InOrg, before: number): Promise<void> {
  while (!signal?.aborted) {
    const oldest = await findOldestSlot(db, { before: slots.at(before) })
    if (!oldest) return
    await db.telemetry((tx) => deleteFromSlot(tx, { slot: oldest.slot, count: rowsAtOnce }))
  }
}

/** Endpoint by endpoint: that is how rollups lie. */
async function forgetRollups({ db, signal }: InOrg, table: RollupTable, before: number): Promise<void> {
  let last: number | undefined = 0
  while (last !== undefined && !signal?.aborted) {
    // SQLite answers at once: without this, nobody else would have a turn until all were looked at.
    await nextTurn()
    const first: number = last
    const old: { endpoint: number; slot: number }[] = []
    for (let i = 0; i < endpointsAtOnce && last !== undefined; i++) {
      const next: { endpoint: number; slot: number } | undefined = await findNextRollup[table](db, { endpoint: last })
      last = next?.endpoint
      if (next && next.slot < before) old.push(next)
    }
    if (old.length === 0) continue
    await db.telemetry(async (tx) => {
      for (const { endpoint, slot } of old) {
        await deleteRollups[table](tx, { endpoint, before: Math.min(before, slot + slotsAtOnce) })
      }
    })
    // There may be more of them.
    last = first
  }
}

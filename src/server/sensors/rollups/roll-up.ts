// Computes rollups: quarters that have ended from their raw samples, then the hours and days that contain them.

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Services } from '../../context/services.ts'
import type { Clock } from '../../core/clock.ts'
import { programVersion, versionText } from '../../core/program-files.ts'
import { daysIn, hours, numbersFrom, quarters, type SlotScale, slots } from '../../core/time/slots.ts'
import type { OrgDatabase } from '../../db/org-database.ts'
import { listOrgs } from '../../journal/orgs/store.ts'
import { findNextRollup } from './retention-store.ts'
import { makeOlderRoomDays, updateRoomDays } from './room-days.ts'
import { hasNodeOfOtherVersion } from './room-days-store.ts'
import {
  type DueSlot,
  deleteDue,
  findProgress,
  listDue,
  lockDue,
  type RollupPart,
  type RollupProgress,
  updateDayZone,
  updateQuarters,
  updateRollups,
} from './store.ts'

/** A quarter is rolled up this long after its end. A sample that arrives later makes it due again. */
const quarterDelaySeconds = 60
/**
 * One commit has at most this many quarters, and should take this long. On SQLite the event loop is blocked for that time; on PostgreSQL
 * larger commits cost less in total.
 */
const commitLimits = {
  sqlite: { maxQuarters: 50, targetMs: 8 },
  postgres: { maxQuarters: 500, targetMs: 300 },
}
/** Days of a new time zone that one commit computes for an endpoint. */
const daysPerCommit = 30

interface RollupOrg {
  readonly key: number
  readonly timezone: string
}

/** Rolls up all organisations, one after the other. */
export async function rollUp(services: Services, signal?: AbortSignal): Promise<void> {
  for (const org of await listOrgs(services.db.system)) {
    await rollUpOrg(services, org, signal)
    if (signal?.aborted) return
  }
}

/** Must not run twice at the same time for an organisation. Quarters that it did not reach stay due. */
export async function rollUpOrg(
  { db, clock }: Services,
  { key, timezone }: RollupOrg,
  signal?: AbortSignal,
): Promise<void> {
  // SQLite answers synchronously: without this, the event loop would be blocked until all organisations were visited.
  await nextTurn()
  const inOrg = { db: db.forOrg(key), clock, zone: timezone, signal }
  const progress = await findProgress(inOrg.db)
  if (progress?.timezone !== timezone) await rebuildDays(inOrg, progress)
  await makeDueQuarters(inOrg, progress?.samples_from ?? 0)
  const roomDaysFrom = progress?.room_days_from ?? null
  if (roomDaysFrom === 0 || (await hasNodeOfOtherVersion(db.system, { version: versionText(programVersion()) }))) return
  await makeOlderRoomDays(inOrg.db, roomDaysFrom, clock.now() / 1000, signal)
}

interface InOrg {
  readonly db: OrgDatabase
  readonly clock: Clock
  /** The time zone of its days. */
  readonly zone: string
  readonly signal: AbortSignal | undefined
}

/** Quarters before `from` stay as they are, because some of their samples were deleted. */
async function makeDueQuarters({ db, clock, zone, signal }: InOrg, from: number): Promise<void> {
  const days = daysIn(zone)
  const open = quarters.at(clock.now() / 1000 - quarterDelaySeconds)
  let after: DueSlot = { endpoint: 0, slot: 0 }
  const { maxQuarters, targetMs } = commitLimits[db.engine]
  let batchSize = maxQuarters
  while (!signal?.aborted) {
    const due = await listDue(db, { ...after, before: open, limit: batchSize })
    const last = due.at(-1)
    if (!last) return
    after = last
    const whole = due.filter(({ slot }) => quarters.start(slot) >= from)
    const ofQuarters = whole.flatMap(({ endpoint, slot }) =>
      numbersFrom(slots.at(quarters.start(slot)), slots.at(quarters.start(slot + 1))).map(
        (raw) => [endpoint, raw, slot] as const,
      ),
    )
    const ofHours = ofBuckets(whole, hours)
    const ofDays = ofBuckets(whole, days)
    // A sample that is committed after this transaction makes its quarter due again.
    const tookMs = await db.telemetry(async (tx) => {
      const started = performance.now()
      await lockDue(tx, due)
      await updateRoomDays(tx, await updateQuarters(tx, ofQuarters))
      await updateRollups(tx, 'sample_hours', ofHours)
      await updateRollups(tx, 'sample_days', ofDays)
      await deleteDue(tx, due)
      return performance.now() - started
    })
    // Half of the time is left to other work: new connections, for example, are accepted one per turn of the event loop.
    await sleep(tookMs)
    // The number of samples in a quarter is unknown, so the batch size follows the measured time.
    batchSize = Math.min(maxQuarters, Math.max(1, Math.floor((due.length * targetMs) / tookMs)))
  }
}

/** The hours or days to compute again: for each endpoint those that contain its due quarters, each once. */
function ofBuckets(due: readonly DueSlot[], buckets: SlotScale): RollupPart[] {
  const byName = new Map<string, RollupPart>()
  for (const { endpoint, slot } of due) {
    const bucket = buckets.at(quarters.start(slot))
    byName.set(`${endpoint} ${bucket}`, partOf(endpoint, buckets, bucket))
  }
  return [...byName.values()]
}

/** In every time zone, hours and days begin at the start of a quarter. */
const partOf = (endpoint: number, buckets: SlotScale, bucket: number): RollupPart => [
  endpoint,
  quarters.at(buckets.start(bucket)),
  quarters.at(buckets.start(bucket + 1)),
  bucket,
]

/** Days are in the time zone of the organisation. After a change they are computed again, as far back as quarters are stored. */
async function rebuildDays({ db, clock, zone, signal }: InOrg, progress: RollupProgress | undefined): Promise<void> {
  if (progress) {
    // An empty zone keeps the history from reading days until all are in one zone again.
    await db.telemetry((tx) => updateDayZone(tx, { timezone: '' }))
    const days = daysIn(zone)
    const first = days.at(progress.quarters_from) + 1
    const end = days.at(clock.now() / 1000) + 2
    for (
      let at = await findNextRollup.sample_quarters(db, { endpoint: 0 });
      at;
      at = await findNextRollup.sample_quarters(db, { endpoint: at.endpoint })
    ) {
      const { endpoint } = at
      // The first day is one earlier than the first quarter, because days of the previous zone may have begun earlier.
      for (let day = Math.max(first, days.at(quarters.start(at.slot)) - 1); day < end; day += daysPerCommit) {
        if (signal?.aborted) return
        const to = Math.min(day + daysPerCommit, end)
        const parts = numbersFrom(day, to).map((number) => partOf(endpoint, days, number))
        await db.telemetry((tx) => updateRollups(tx, 'sample_days', parts))
      }
    }
  }
  await db.telemetry((tx) => updateDayZone(tx, { timezone: zone }))
}

// Keeps rollups: quarters that have ended are made of their raw samples, with the hour and the day that they lie in.

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Services } from '../../../context/services.ts'
import type { Clock } from '../../../core/clock.ts'
import type { OrgDatabase } from '../../../db/db.ts'
import { listOrgs } from '../../orgs/store.ts'
import { daysIn, hours, numbersFrom, quarters, type SlotScale, slots } from '../slots.ts'
import { findNextRollup } from './retention-store.ts'
import {
  type DueSlot,
  deleteDue,
  findProgress,
  listDue,
  type RollupPart,
  type RollupProgress,
  updateDayZone,
  updateQuarters,
  updateRollups,
} from './store.ts'

/** How long after its end a quarter still waits for samples, in seconds. What comes later makes it due again. */
const patience = 60
/** How many quarters are made in one commit, how long that should take, in milliseconds, and how many days of a new zone. */
const mostAtOnce = 50
const longest = 8
const daysAtOnce = 30

/** Never two of these at once. What it did not come to is due the next time. */
export async function rollUp({ db, clock }: Services, signal?: AbortSignal): Promise<void> {
  for (const { key, timezone } of await listOrgs(db.system)) {
    // SQLite answers at once: without this, nobody else would have a turn until all were looked at.
    await nextTurn()
    const inOrg = { db: db.forOrg(key), clock, zone: timezone, signal }
    const progress = await findProgress(inOrg.db)
    if (progress?.timezone !== timezone) await settleZone(inOrg, progress)
    await makeDueQuarters(inOrg, progress?.samples_from ?? 0)
    if (signal?.aborted) return
  }
}

interface InOrg {
  readonly db: OrgDatabase
  readonly clock: Clock
  /** What its days are in. */
  readonly zone: string
  readonly signal: AbortSignal | undefined
}

/** What lies before `from` stays as it is: some of its samples are gone. */
async function makeDueQuarters({ db, clock, zone, signal }: InOrg, from: number): Promise<void> {
  const days = daysIn(zone)
  const open = quarters.at(clock.now() / 1000 - patience)
  let after: DueSlot = { endpoint: 0, slot: 0 }
  let atOnce = mostAtOnce
  while (!signal?.aborted) {
    const due = await listDue(db, { ...after, before: open, limit: atOnce })
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
    // Samples of these quarters that come meanwhile are written before this or after it: then they are due again.
    const took = await db.telemetry(async (tx) => {
      const started = performance.now()
      await updateQuarters(tx, ofQuarters)
      await updateRollups(tx, 'sample_hours', ofHours)
      await updateRollups(tx, 'sample_days', ofDays)
      await deleteDue(tx, due)
      return performance.now() - started
    })
    // Others come first: new connections, for one, are taken one in each turn.
    await sleep(took)
    // Nobody knows how many samples a quarter has.
    atOnce = Math.min(mostAtOnce, Math.max(1, Math.floor((due.length * longest) / took)))
  }
}

/** What has to be made anew: for each endpoint the hours, or the days, that its due quarters lie in, each once. */
function ofBuckets(due: readonly DueSlot[], buckets: SlotScale): RollupPart[] {
  const byName = new Map<string, RollupPart>()
  for (const { endpoint, slot } of due) {
    const bucket = buckets.at(quarters.start(slot))
    byName.set(`${endpoint} ${bucket}`, partOf(endpoint, buckets, bucket))
  }
  return [...byName.values()]
}

/** Every bucket begins with a quarter, whatever the zone. */
const partOf = (endpoint: number, buckets: SlotScale, bucket: number): RollupPart => [
  endpoint,
  quarters.at(buckets.start(bucket)),
  quarters.at(buckets.start(bucket + 1)),
  bucket,
]

/** Days are in the zone of the organisation: when that was changed, they are made anew as far back as there are quarters. */
async function settleZone({ db, clock, zone, signal }: InOrg, progress: RollupProgress | undefined): Promise<void> {
  if (progress) {
    // Nobody reads them until they are all in one zone again.
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
      // A day earlier than its first quarter: days of the zone before may have begun earlier.
      for (let day = Math.max(first, days.at(quarters.start(at.slot)) - 1); day < end; day += daysAtOnce) {
        if (signal?.aborted) return
        const to = Math.min(day + daysAtOnce, end)
        const parts = numbersFrom(day, to).map((number) => partOf(endpoint, days, number))
        await db.telemetry((tx) => updateRollups(tx, 'sample_days', parts))
      }
    }
  }
  await db.telemetry((tx) => updateDayZone(tx, { timezone: zone }))
}

// Counts the messages that wait, by kind of their channel and over all organisations, for the metrics.
import type { Clock } from '../../core/clock.ts'
import { ScrapeCount } from '../../core/metrics/scrape-count.ts'
import type { Database } from '../../db/db.ts'
import { countWaiting } from './all-messages-store.ts'

export const waitingCount = (db: Database, clock: Clock): ScrapeCount<Readonly<Record<string, number>>> =>
  new ScrapeCount(clock, async () =>
    Object.fromEntries((await countWaiting(db.system)).map(({ kind, count }) => [kind, Number(count)])),
  )

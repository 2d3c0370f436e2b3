// Repairs what waits for times that a wrong clock has set: messages would wait until the clock shows these times again. [contract 10.delivery]

import { maxMessageWaitMs } from '../../../contract/channels/messages.ts'
import { secondMs } from '../../../contract/durations.ts'
import type { OrgDatabase } from '../../db/org-database.ts'
import { releaseInSteps } from '../release-waiting.ts'
import { findNewestTime, repairChannelTimes } from './store.ts'

/** Clocks are corrected by less than this all the time, and the clocks of nodes differ by less. */
const toleranceMs = 10 * secondMs

interface WaitingChannel {
  readonly id: number
  readonly delivered_at: number | null
  readonly failing_since: number | null
  /** The latest time for which a message waits. */
  readonly last_at: number | null
}

/** The result of comparing the clock of one run with the run before. */
type Notice = 'set back' | 'first run' | undefined

export class ClockCheck {
  /** When the task last ran, for each time that this node holds it. */
  readonly #ranAt = new WeakMap<AbortSignal, number>()

  compare(holding: AbortSignal, now: number): Notice {
    const ranAt = this.#ranAt.get(holding)
    this.#ranAt.set(holding, now)
    if (ranAt === undefined) return 'first run'
    return now < ranAt - toleranceMs ? 'set back' : undefined
  }

  /**
   * The first run also looks for future times in the database. The clock may have been set back while no node ran, or the times may come
   * from a node whose clock is ahead.
   */
  async needsRepair(db: OrgDatabase, channel: WaitingChannel, notice: Notice, now: number): Promise<boolean> {
    const { id, delivered_at, failing_since, last_at } = channel
    if (last_at !== null && last_at > now + maxMessageWaitMs) return true
    if (notice !== 'first run') return notice === 'set back'
    const writtenAt = (await findNewestTime(db, { channel: id }))?.created_at
    return [delivered_at, failing_since, writtenAt].some((at) => at != null && at > now + toleranceMs)
  }
}

/** Everything that waits is decided on again. */
export async function repairWaitingTimes(db: OrgDatabase, channel: number, now: number): Promise<void> {
  await db.telemetry((tx) => repairChannelTimes(tx, { id: channel, now }))
  await releaseInSteps(db, channel, now)
}

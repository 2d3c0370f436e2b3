// Stores what came of an attempt, for the message and for its channel. [contract 10.delivery]
import { hourMs } from '../../../contract/durations.ts'
import type { Clock } from '../../core/clock.ts'
import type { OrgDatabase } from '../../db/org-database.ts'
import { releaseInSteps } from '../release-waiting.ts'
import type { RetryReleases } from './releases.ts'
import { disableAfterMs, nextAttemptAt } from './retry-schedule.ts'
import type { Outcome } from './senders/outcome.ts'
import {
  type DueRow,
  disableChannel,
  postponeFollowers,
  updateChannelDelivered,
  updateChannelFailed,
  updateDelivered,
  updateFailed,
} from './store.ts'

export interface DeliveryContext {
  readonly db: OrgDatabase
  readonly clock: Clock
  readonly channelId: number
  readonly releases: RetryReleases
}

/** The state of a channel, as far as this batch knows it. */
export interface ChannelHealth {
  isFailing: boolean
  /** True if the row has the time of a success of this batch. Further ones do not change it. */
  hasSuccess: boolean
}

type Success = Extract<Outcome, { isDelivered: true }>
type Failure = Extract<Outcome, { isDelivered: false }>

export async function recordSuccess(
  { db, clock, channelId, releases }: DeliveryContext,
  health: ChannelHealth,
  message: number,
  { status, note }: Success,
): Promise<void> {
  const now = clock.now()
  const isRelease = health.isFailing && releases.succeeded(`${db.org}/${channelId}`, now)
  const isNews = health.isFailing || !health.hasSuccess
  health.isFailing = false
  health.hasSuccess = true
  // If the node ends here, the message is sent again, and then finds the channel still failing.
  if (isRelease) await releaseInSteps(db, channelId, now)
  await db.telemetry(async (tx) => {
    await updateDelivered(tx, { channel: channelId, message, now, status, error: note ?? null })
    if (isNews) await updateChannelDelivered(tx, { id: channelId, now })
  })
}

/** Returns a sentence if the channel is disabled because of it. */
export async function recordFailure(
  { db, clock, channelId, releases }: DeliveryContext,
  health: ChannelHealth,
  { message, order_key: orderKey, attempts }: DueRow,
  { status, error, retryAfterMs, isGone = false }: Failure,
): Promise<string | undefined> {
  const now = clock.now()
  const nextAt = nextAttemptAt({ now, attempts: attempts + 1, retryAfterMs })
  releases.failed(`${db.org}/${channelId}`)
  health.isFailing = true
  return db.telemetry(async (tx) => {
    await updateFailed(tx, { channel: channelId, message, now, status, error, nextAt })
    await postponeFollowers(tx, { channel: channelId, orderKey, message, nextAt })
    const failingSince = (await updateChannelFailed(tx, { id: channelId, now, error }))?.failing_since ?? now
    const reason = disabledReasonOf(isGone, now - failingSince, error)
    if (reason !== undefined) await disableChannel(tx, { id: channelId, reason })
    return reason
  })
}

function disabledReasonOf(isGone: boolean, failingMs: number, error: string): string | undefined {
  const advice = 'then enable the channel: messages that have waited for less than 30 days are sent.'
  if (isGone) return `The receiver answered 410 (gone). Check the address, ${advice}`
  if (failingMs < disableAfterMs) return undefined
  const hours = disableAfterMs / hourMs
  return `Nothing could be delivered for ${hours} hours; the last error was: ${error}. Repair the receiver, ${advice}`
}

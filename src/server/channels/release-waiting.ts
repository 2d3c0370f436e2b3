// Makes what waits for a channel due immediately, because its receiver works again or a person has changed it. [contract 10.delivery]
import { repeatSteps } from '../core/repeat.ts'
import type { TelemetryTx, Tx } from '../db/handles.ts'
import type { OrgDatabase } from '../db/org-database.ts'
import { openingDelayMs } from '../journal/outbox/outbox.ts'
import { makeDue } from './delivery-log-store.ts'

/** One commit has this many rows, so that other writes do not wait for long. */
const maxCommitRows = 1000

const makeOldestDue = (tx: Tx | TelemetryTx, channel: number, now: number, limit: number) =>
  // An opening dated in the future was written by a clock that was ahead, so it does not wait.
  makeDue(tx, { channel, now, openedBefore: now - openingDelayMs, openedUntil: now + openingDelayMs, limit })

/** Takes the oldest in the commit of an edit, and returns whether others may be left, which the next success releases. */
export const releaseInCommit = async (tx: Tx, channel: number, now: number): Promise<boolean> =>
  (await makeOldestDue(tx, channel, now, maxCommitRows)).length >= maxCommitRows

/** Takes them in steps, the oldest first. */
export async function releaseInSteps(db: OrgDatabase, channel: number, now: number): Promise<void> {
  await repeatSteps(maxCommitRows, () => db.telemetry((tx) => makeOldestDue(tx, channel, now, maxCommitRows)))
}

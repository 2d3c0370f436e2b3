// Writes heartbeats, which no change causes. [contract 10.delivery]
import { minuteMs } from '../../../../contract/durations.ts'
import type { OrgDatabase } from '../../../db/org-database.ts'
import { queueForChannel } from '../../../journal/outbox/outbox.ts'
import { hasWaitingMessage, updateHeartbeat } from './opening-store.ts'

interface HeartbeatChannel {
  readonly id: number
  readonly heartbeatMinutes: number
  readonly heartbeatAt: number | null
}

/** Writes a heartbeat if one is due. While one waits, no further ones are written: a receiver that was away needs one. */
export async function writeHeartbeat(
  db: OrgDatabase,
  { id, heartbeatMinutes, heartbeatAt }: HeartbeatChannel,
  now: number,
): Promise<void> {
  const periodMs = heartbeatMinutes * minuteMs
  // A time further in the future was written by a clock that was ahead.
  if (heartbeatAt !== null && heartbeatAt > now && heartbeatAt <= now + periodMs) return
  const isLate = heartbeatAt === null || Math.abs(now - heartbeatAt) >= periodMs
  const orderKey = `heartbeat ${id}`
  const isWaiting = await hasWaitingMessage(db, { channel: id, orderKey })
  await db.telemetry(async (tx) => {
    if (!(await updateHeartbeat(tx, { channel: id, nextAt: (isLate ? now : heartbeatAt) + periodMs }))) return
    if (!isWaiting) await queueForChannel(tx, id, { type: 'heartbeat', orderKey, data: {}, at: now })
  })
}

// Decides, without a database, what a group of reboots waits for, and which of them are sent or skipped. [contract 12.when]
import type { OperationWait } from '../../../../contract/fleet/commands.ts'

/** After a device has reported `in use`, it is asked again at the earliest after this time. */
export const refusedPauseMs = 10_000

/** A reboot that waits, and the endpoint that it is for. */
export interface WaitingReboot {
  readonly id: string
  readonly isConnected: boolean
  /** An attempt to send it is under way. */
  readonly isAttempted: boolean
  /** When the device last reported `in use`. */
  readonly refusedAt: number | null
  readonly waitsFor: OperationWait | null
}

/** Whether all rooms of a group allow a reboot. */
export interface Readiness {
  readonly isIdle: boolean
  readonly isInWindow: boolean
}

export interface GroupDecision {
  /** Reboots of which an attempt is made now. */
  readonly attempted: readonly string[]
  /** Reboots whose device is offline while others of the group are attempted. */
  readonly skipped: readonly string[]
  /** The reboots that wait, and the one thing that they wait for. */
  readonly waiting: readonly string[]
  readonly waitsFor: OperationWait
}

/**
 * The group goes when the endpoint that was named in the request is connected, whose operation has the id of the group. After that
 * operation has ended or is under way, the others go when one of them is connected.
 */
export function decideGroup(
  groupId: string,
  reboots: readonly WaitingReboot[],
  readiness: Readiness,
  now: number,
): GroupDecision {
  const waiting = reboots.filter(({ isAttempted }) => !isAttempted)
  const named = waiting.find(({ id }) => id === groupId)
  const isConnected = named ? named.isConnected : waiting.some((reboot) => reboot.isConnected)
  const missing = missingOf(isConnected, readiness)
  if (missing) return { attempted: [], skipped: [], waiting: waiting.map(({ id }) => id), waitsFor: missing }
  const connected = waiting.filter((reboot) => reboot.isConnected)
  const [refused, attempted] = partition(connected, ({ refusedAt }) => (refusedAt ?? 0) + refusedPauseMs > now)
  // Offline members are skipped together with an attempt, never before one.
  const offline = attempted.length > 0 ? waiting.filter((reboot) => !reboot.isConnected) : []
  return {
    attempted: attempted.map(({ id }) => id),
    skipped: offline.map(({ id }) => id),
    waiting: refused.map(({ id }) => id),
    waitsFor: 'idle',
  }
}

function missingOf(isConnected: boolean, { isIdle, isInWindow }: Readiness): OperationWait | undefined {
  if (!isConnected) return 'connection'
  if (!isInWindow) return 'window'
  return isIdle ? undefined : 'idle'
}

function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))]
}

// Decides from facts whether a room is busy and whether it is idle, without a database. [contract 12.idle]

import { hourMs, minuteMs } from '../../../../contract/durations.ts'

/** A sample with people makes its room busy for this long. */
export const busyAfterPeopleMs = 5 * minuteMs

/** A device that has been offline for this long is not waited for, if another one that can know is connected. */
export const maxWaitForOfflineMs = 24 * hourMs

interface Time {
  readonly since: number
  readonly until: number
}

export interface ConnectedTime extends Time {
  /** The state of the device after it; a device that is asleep is not in use. */
  readonly followed_by?: 'ASLEEP' | 'UNKNOWN' | 'OFFLINE' | null
}

/** A device that can know whether its room is in use. Times are milliseconds. */
export interface DeviceFacts {
  readonly isConnected: boolean
  readonly isInCall: boolean
  /** The device reports calls, and has not reported its status since it connected: a call may have begun while it was offline. */
  readonly mayBeInCall: boolean
  /** The time at which a call of the device last ended; null if none has. */
  readonly callEndedAt: number | null
  /** The time at which the device last connected or disconnected; null if it never connected. */
  readonly connectionTime: number | null
  readonly enrolledAt: number
  /** Since when its state is OFFLINE; null in any other state. */
  readonly offlineSince: number | null
  /** A device that is asleep is not in use. */
  readonly isAsleep?: boolean
  /** The connections of the device, also the present one, as far back as they were read, in any order. */
  readonly connections: readonly ConnectedTime[]
}

/** The devices without which time does not count. A device that sleeps, or is gone for good, must not keep its room from ever being idle. */
export function listAwaited<D extends Pick<DeviceFacts, 'isConnected' | 'isAsleep' | 'offlineSince'>>(
  all: readonly D[],
  now: number,
): readonly D[] {
  const devices = all.filter(({ isAsleep = false }) => !isAsleep)
  if (!devices.some(({ isConnected }) => isConnected)) return devices
  return devices.filter(({ offlineSince }) => offlineSince === null || now - offlineSince < maxWaitForOfflineMs)
}

/**
 * Returns the time since which the devices together were connected for `idleMs`: times in which one of them was disconnected do not
 * count unless it was asleep, and times before a device was enrolled do. Returns undefined if that is before `from`, since when connections were read.
 */
export function findQuietStart(
  devices: readonly Pick<DeviceFacts, 'connections' | 'enrolledAt'>[],
  { now, idleMs, from }: { readonly now: number; readonly idleMs: number; readonly from: number },
): number | undefined {
  const gaps = devices
    .flatMap((device) => listGaps(device, Math.max(from, device.enrolledAt), now))
    .toSorted((a, b) => b.until - a.until)
  let missing = idleMs
  let at = now
  for (const { since, until } of gaps) {
    if (until < at) {
      if (at - until >= missing) break
      missing -= at - until
    }
    at = Math.min(at, since)
  }
  const start = at - missing
  return start >= from ? start : undefined
}

/** Lists the times between `from` and `to` in which a device was disconnected and not asleep. */
function listGaps({ connections }: Pick<DeviceFacts, 'connections'>, from: number, to: number): Time[] {
  const gaps: Time[] = []
  let [at, isAsleep] = [from, false]
  for (const { since, until, followed_by } of connections.toSorted((a, b) => a.since - b.since)) {
    if (since >= to) break
    if (since > at && !isAsleep) gaps.push({ since: at, until: since })
    at = Math.max(at, until)
    isAsleep = followed_by === 'ASLEEP'
  }
  if (at < to && !isAsleep) gaps.push({ since: at, until: to })
  return gaps
}

const isInCallNow = ({ isConnected, isInCall }: DeviceFacts): boolean => isConnected && isInCall

/** Returns when calls last made the room busy, for a room without one now. A device that disconnects in a call ends it for its room. */
function lastCallEnd(devices: readonly DeviceFacts[]): number {
  const ends = devices.map(({ isConnected, isInCall, callEndedAt, connectionTime }) =>
    Math.max(callEndedAt ?? 0, isInCall && !isConnected ? (connectionTime ?? 0) : 0),
  )
  return Math.max(0, ...ends)
}

interface UseFacts {
  readonly devices: readonly DeviceFacts[]
  /** The time of the newest sample with people; 0 if there is none since `quietStart`. */
  readonly lastPeopleAt: number
  /** The result of findQuietStart. */
  readonly quietStart: number
  readonly now: number
}

interface Judgement {
  /** Idle: not busy for the idle time, or without a device that can know. */
  readonly isIdle: boolean
  readonly isBusy: boolean
  /** Whether a device of the room can know. */
  readonly canKnow: boolean
}

export function judgeUse({ devices, lastPeopleAt, quietStart, now }: UseFacts): Judgement {
  if (devices.length === 0) return { isIdle: true, isBusy: false, canKnow: false }
  const hasPeople = lastPeopleAt > 0 && lastPeopleAt + busyAfterPeopleMs >= now
  const isBusy = hasPeople || devices.some(isInCallNow)
  const busyUntil = Math.max(lastCallEnd(devices), lastPeopleAt > 0 ? lastPeopleAt + busyAfterPeopleMs : 0)
  const mayBeInCall = devices.some((device) => device.mayBeInCall)
  return { isIdle: !isBusy && !mayBeInCall && busyUntil <= quietStart, isBusy, canKnow: true }
}

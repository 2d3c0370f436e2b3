// The logs that the workers and devices of a trial write and the checkers read. Times are milliseconds of the test's monotonic clock.
import type { CallOutcome } from './call-log.ts'

/** A register is one value that is written and read: the name of a room, or the firmware version of a device. */
export interface RegisterWrite {
  readonly register: string
  readonly value: string
  /** The number of the version that the write made, if the writer knows it. */
  readonly version: number | undefined
  readonly invokedAt: number
  /** Infinite if no answer came. */
  readonly endedAt: number
  readonly outcome: CallOutcome
}

export interface RegisterRead {
  readonly register: string
  readonly value: string
  /** Undefined if the answer has no version of this register, as when an endpoint names its room. */
  readonly version: number | undefined
  readonly node: string
  readonly invokedAt: number
  readonly endedAt: number
}

/** A connection as its device saw it. */
export interface ConnectionRecord {
  readonly endpointId: string
  readonly node: string
  readonly connackAt: number
  /** Infinite while it is open. */
  endedAt: number
  /** True if the device closed it, as for a reboot. */
  isEndedByDevice?: boolean
}

/** A CONNECT that a device sent. Its node may have stored the connection, although no CONNACK has arrived. */
export interface ConnectionAttempt {
  readonly endpointId: string
  readonly node: string
  readonly begunAt: number
  /** The end of its socket, with or without a CONNACK before it. Infinite until then. */
  endedAt: number
}

export interface PresenceRead {
  readonly endpointId: string
  readonly isConnected: boolean
  readonly node: string
  readonly invokedAt: number
  readonly endedAt: number
}

export interface SentSample {
  readonly endpointId: string
  /** Unix seconds, as in the message. */
  readonly timestamp: number
  readonly co2: number
  acknowledgedAt: number | undefined
}

export interface CommandDelivery {
  readonly commandId: string
  readonly endpointId: string
  readonly at: number
}

/** Everything that the devices of a trial know. */
export interface DeviceHistory {
  readonly connections: ConnectionRecord[]
  readonly attempts: ConnectionAttempt[]
  readonly samples: SentSample[]
  readonly statusWrites: RegisterWrite[]
  readonly deliveries: CommandDelivery[]
  readonly executions: CommandDelivery[]
  /** Commands whose final report was acknowledged, with the time. */
  readonly finished: Map<string, number>
}

export const newDeviceHistory = (): DeviceHistory => ({
  connections: [],
  attempts: [],
  samples: [],
  statusWrites: [],
  deliveries: [],
  executions: [],
  finished: new Map(),
})

export type FaultKind =
  | 'kill'
  | 'pause'
  | 'stop'
  | 'cutDatabase'
  | 'swallowDatabase'
  | 'delayDatabase'
  | 'cutMessages'
  | 'restartPostgres'
  | 'failOver'

/** These concern all nodes. */
export const postgresFaults: readonly FaultKind[] = ['restartPostgres', 'failOver']

export interface FaultRecord {
  readonly kind: FaultKind
  /** Undefined if it concerns all nodes. */
  readonly node: string | undefined
  readonly from: number
  /** The time when it was over, and a killed node ready again. */
  to: number
}

/** An entry in the log of a follower of events, in the order in which it happened. */
export type FollowedItem =
  | { readonly kind: 'structure'; readonly entry: number; readonly node: string; readonly at: number }
  | { readonly kind: 'reset'; readonly node: string; readonly at: number }

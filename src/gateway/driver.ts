// A driver opens a session with one real device; the session says what the device is, how it is and what it can do.
import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { DeviceSample, UpMessage } from '../contract/device/protocol.ts'
import type { AgentSettings } from '../device/handlers.ts'

export interface Driver {
  /** Rejects with a DriverFailure if there is no session. Aborting the signal of the context ends an attempt and a session. */
  open(item: DriverItem, context: DriverContext): Promise<DriverSession>
}

/** The part of an item of the gateway's list that its driver needs. */
export interface DriverItem {
  readonly host: string
  readonly port: number
  readonly username?: string | undefined
  readonly secret?: string | undefined
  /** The options that the table of drivers names for this driver, with their defaults. */
  readonly options: Readonly<Record<string, string | number | boolean>>
  /** SHA-256 of the certificate that a person confirmed, as Node writes it: "AB:CD:…". */
  readonly fingerprint?: string | undefined
  /** Whether the device is enrolled. If it is, its identity can be incomplete: a projector in standby does not tell its serial. */
  readonly isEnrolled?: boolean | undefined
}

export interface DriverContext {
  readonly network: DeviceNetwork
  readonly signal: AbortSignal
}

/** The only way from a driver to a device: refuses addresses that are not in the gateway's reach. */
export interface DeviceNetwork {
  /** The address of a host, resolved once and checked; for protocols without a connection. */
  resolve(host: string): Promise<string>
  /** Rejects with a DriverFailure in words. */
  connect(options: ConnectOptions): Promise<Socket>
  /** Compares the certificate before it resolves, so nothing is sent to a device that shows another one. */
  connectTls(options: TlsConnectOptions): Promise<TlsConnection>
}

export interface ConnectOptions {
  readonly host: string
  readonly port: number
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export interface TlsConnectOptions extends ConnectOptions {
  readonly fingerprint?: string | undefined
  /** For a driver that sends nothing secret: TLS 1.0 and 1.1 and weak keys are accepted. */
  readonly allowsOldTls?: boolean | undefined
  /** For a driver that sends nothing secret: without a fingerprint, any certificate is accepted. */
  readonly allowsUntrusted?: boolean | undefined
  /** The certificate of the only authority that is trusted (PEM), instead of those that Node knows. */
  readonly authority?: string | undefined
  /** With which the gateway identifies itself (PEM). */
  readonly clientCertificate?: string | undefined
  readonly clientKey?: string | undefined
}

export interface TlsConnection {
  readonly socket: TLSSocket
  readonly certificate: DeviceCertificate
}

export interface DeviceCertificate {
  /** SHA-256, as Node writes it. */
  readonly fingerprint: string
  /** Whether a known authority confirms it for this host. */
  readonly isTrusted: boolean
  readonly validUntil: Date
}

/** The identity as the device itself tells it. */
export interface DeviceIdentity {
  readonly manufacturer?: string | undefined
  readonly model: string
  /** Absent if the device has none, or only a placeholder. */
  readonly serial?: string | undefined
  readonly firmwareVersion?: string | undefined
  readonly certificate?: DeviceCertificate | undefined
  /** Sentences for the result of a test: what is switched off at the device, and how to switch it on. */
  readonly notes?: readonly string[] | undefined
}

export interface SessionEvents {
  /** The fields that changed; null clears a field. */
  status: [changes: UpMessage<'status'>]
  /** A setting was changed at the device; `settings()` has its new value. */
  settings: []
  sample: [DeviceSample]
  /** `offlineBecause` has changed. */
  presence: []
  /** Emitted once; no other event follows. */
  ended: [DriverFailure]
}

/** An absent member is an action that the device cannot do. The message of an error that a member throws is shown to people. */
export interface DriverSession extends EventEmitter<SessionEvents> {
  readonly identity: DeviceIdentity
  /**
   * For a device that cannot tell what became of a command. Each command is saved before its member is called: after a crash in between, or
   * if the member gives no answer, the command has FAILED, "not known whether it was sent". A reboot has succeeded when `reboot` resolves;
   * otherwise `startedAt` of the status tells, if there is one. `apply` has no time limit.
   */
  readonly commandsOnce?: boolean | undefined
  /** Each sample goes up as it is. Without it, the samples of a minute become one. */
  readonly samplesAsMeasured?: boolean | undefined
  /** Why the device is offline, as its source says; its agent is then not connected. Absent or undefined means online. */
  readonly offlineBecause?: string | undefined
  /** Everything that is known of the device now. */
  status(): UpMessage<'status'>
  /** The present values of the keys that `configKeys` of the status names. */
  settings?(): AgentSettings
  /** Sets these keys and returns the rejected ones with a reason each. */
  apply?(config: AgentSettings): Promise<Record<string, string> | undefined>
  /** Resolves when the device has accepted it. With `onlyIfIdle`, throws `inUseError` if the device is in use. */
  reboot?(options: { readonly onlyIfIdle: boolean }): Promise<void>
  message?(text: string, durationMs: number): Promise<void>
  power?(on: boolean): Promise<void>
  isInUse?(): Promise<boolean>
  /** The logs as gzip, or a short text about where they are. */
  logs?(options: { readonly inCallLogs: boolean }): Promise<Buffer | string>
  close(): void
}

type FailureState = 'UNREACHABLE' | 'REFUSED' | 'CHANGED' | 'UNSUPPORTED'

/** Why there is no session: the state of the item, and a sentence that tells a technician what to do. */
export class DriverFailure extends Error {
  readonly state: FailureState

  /** `cause` is the error from Node, such as ECONNREFUSED: a driver can add advice to it. */
  constructor(state: FailureState, reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.state = state
  }
}

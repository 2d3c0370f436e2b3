// A source driver reads a system that knows many devices, and opens a driver session for each of them that was adopted.
import type { EventEmitter } from 'node:events'
import type { ListedSource } from '../../contract/device/protocol.ts'
import type { FoundDevice, ReportedStructure, SourceContent, SourceTestResult } from '../../contract/fleet/sources.ts'
import type { DeviceCertificate, DeviceNetwork, DriverFailure, DriverSession } from '../driver.ts'

/** The part of a source in the gateway's list that its driver needs. */
export type SourceSettings = Omit<
  ListedSource,
  'id' | 'revision' | 'targetRevision' | 'state' | 'deviceCount' | 'hasStructure'
>

export interface SourceDriver {
  /**
   * Resolves when the source has answered as it should. Rejects with a SourceFailure if it does not. Aborting the signal of the context
   * ends an attempt and a session. The first event comes in a later turn of the event loop.
   */
  open(settings: SourceSettings, context: SourceContext): Promise<SourceSession>
}

export interface SourceContext {
  readonly network: DeviceNetwork
  readonly signal: AbortSignal
  /** The gateway's own endpoint, and the address of its server: a source that is this installation is refused. */
  readonly own: { readonly endpointId: string; readonly url: string }
  /** The devices that the source had in an earlier session, or that were adopted: a complete list has them, if they still exist. */
  readonly knownKeys?: (() => readonly string[]) | undefined
  /** How many devices of the source the server knows; undefined if it is not told. */
  readonly deviceCount?: number | undefined
  /** A line for the gateway's log, without secrets. */
  readonly log: (line: string) => void
}

export interface SourceEvents {
  /** Devices that are new or have changed, or that the source no longer lists (`isMissing`). */
  found: [devices: readonly FoundDevice[]]
  /** The keys of a complete list, after `found`: a known device that is not among them is missing, and its session ends. */
  listed: [keys: readonly string[]]
  /** The regions, locations, rooms and profiles, whenever they differ from those before. */
  structure: [structure: Omit<ReportedStructure, 'revision'>]
  content: [content: SourceContent]
  /**
   * Emitted once; no other event follows. The sessions of its devices stay: the gateway first reports that the source is away, and then
   * closes them.
   */
  ended: [SourceFailure]
}

export interface SourceSession extends EventEmitter<SourceEvents> {
  readonly certificate?: DeviceCertificate | undefined
  /** The result of a test: name and version, counts, sentences about what does not work. */
  summary(): Pick<NonNullable<SourceTestResult['found']>, 'version' | 'content' | 'notes'>
  /** Rejects with a DriverFailure if the device is not there, or cannot be managed. */
  openDevice(key: string, context: SourceDeviceContext): Promise<DriverSession>
  close(): void
}

export interface SourceDeviceContext {
  readonly signal: AbortSignal
  /** Keeps what the session has to know after a restart of the gateway, such as the values that it sent last. */
  readonly memory: DeviceMemory
}

export interface DeviceMemory {
  load(): unknown
  /** Resolves when the state is durable. */
  save(state: unknown): Promise<void>
}

type SourceFailureState = 'UNREACHABLE' | 'REFUSED' | 'CHANGED' | 'FAILING' | 'UNSUPPORTED'

/** Why a source cannot be read: its state, and a sentence that tells a person what to do. */
export class SourceFailure extends Error {
  readonly state: SourceFailureState
  /** When the source itself said that it wants to be asked again. */
  readonly retryAfterMs: number | undefined

  constructor(
    state: SourceFailureState,
    reason: string,
    options?: ErrorOptions & { retryAfterMs?: number | undefined },
  ) {
    super(reason, options)
    this.state = state
    this.retryAfterMs = options?.retryAfterMs
  }
}

/** The network refuses an address, or a certificate, in words that hold for a source too. */
export const sourceFailureOf = ({ state, message, cause }: DriverFailure): SourceFailure =>
  new SourceFailure(state, message, { cause })

// The functions and the storage that a maker passes to the agent.
import type { Readable } from 'node:stream'
import type { CommandReport, DeviceCommandMessage, LogsReport } from '../contract/device/protocol.ts'

export type AgentSettings = Record<string, boolean | number | string>
type Awaitable<T> = Promise<T> | T

/** An error that a handler throws is reported as the reason of the failure. */
export interface AgentHandlers {
  /** The current value of every key, including read-only keys and without passwords. */
  settings(): AgentSettings
  /** Sets these keys, resets all others to their default, and returns the rejected keys with a reason each. */
  applyConfig(config: AgentSettings, version: number): Awaitable<Record<string, string> | undefined>
  /**
   * Whether the device is in use now: a call, a presentation, people in front of it. With this function the agent announces
   * `onlyIfIdle`, and refuses a reboot that is to happen only if the device is not in use.
   */
  isInUse?(): Awaitable<boolean>
  /** Reboots the device, which starts its agent again when it is up. With `onlyIfIdle`, `isInUse` was asked just before. */
  reboot(options: { readonly onlyIfIdle: boolean }): Awaitable<void>
  /** Switches the device on or off, and reports `power` in its status; only for a device with the action `power`. */
  power?(on: boolean): Awaitable<void>
  /** Returns when the message has appeared. It stays for `durationMs`, unless a person closes it or another message replaces it. */
  showMessage(text: string, durationMs: number): Awaitable<void>
  /** Returns the logs as gzip. */
  collectLogs(options: { inCallLogs: boolean }): Awaitable<Readable | Buffer>
}

/** Storage that survives a reboot. `save` must resolve only when the state is durable. */
export interface AgentStorage {
  load(): Awaitable<AgentState | undefined>
  save(state: AgentState): Awaitable<void>
}
export interface AgentState {
  /** The config version that was applied last, and the keys of it that the device rejected. */
  readonly version: number
  readonly rejected?: Record<string, string> | undefined
  /** Since when the service has refused the credential, in milliseconds since 1970; absent while it knows the device. */
  readonly refusedSince?: number | undefined
  /** True after the first connection with TLS: from then on plain addresses are not used. */
  readonly hasHadTls?: boolean | undefined
  /** Outcomes of the latest commands, oldest first. A command that arrives again is answered from here, not executed. */
  readonly outcomes: readonly CommandOutcome[]
  /** With `outcomeOf`: the saved commands whose outcome the service has not confirmed. */
  readonly started?: readonly StartedCommand[] | undefined
}
export type CommandOutcome = CommandReport | LogsReport

/** A command that was saved before it was handed to the device. */
export interface StartedCommand {
  readonly id: string
  readonly type: DeviceCommandMessage['type']
  /** POWER: whether to switch on. */
  readonly on?: boolean | undefined
  /** When it was handed to the device, in milliseconds since 1970. */
  readonly atMs: number
}

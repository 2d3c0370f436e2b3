// What a maker gives to the agent: what the device can do, and a place where it remembers.
import type { Readable } from 'node:stream'
import type { CommandReport, LogsReport } from '../contract/device.ts'

export type Settings = Record<string, boolean | number | string>
type Awaitable<T> = Promise<T> | T

/** What they throw is reported, as the reason of the failure. */
export interface Handlers {
  /** Every key as it is set now, read-only keys included, passwords left out. */
  settings(): Settings
  /** Sets these keys, puts all others back to their default, and returns those it cannot use, with a reason each. */
  applyConfig(config: Settings, version: number): Awaitable<Record<string, string> | undefined>
  /** The lights go out. When they are back, the device starts its agent again. */
  reboot(): Awaitable<void>
  showMessage(text: string): Awaitable<void>
  /** A gzip bundle. */
  collectLogs(wanted: { inCallLogs: boolean }): Awaitable<Readable | Buffer>
}

/** Survives a reboot: `save` resolves when what it got would. */
export interface Memory {
  load(): Awaitable<Kept | undefined>
  save(kept: Kept): Awaitable<void>
}
export interface Kept {
  /** The config version that was seen last, and what of it the device cannot use. */
  readonly version: number
  readonly rejected?: Record<string, string> | undefined
  /** How the latest operations ended, oldest first: one that comes again is answered, not executed. */
  readonly outcomes: readonly Outcome[]
}
export type Outcome = CommandReport | LogsReport

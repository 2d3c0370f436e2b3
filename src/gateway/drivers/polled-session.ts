// A session with a device that is asked at intervals: reports what changed, and ends when it no longer answers.
import { EventEmitter } from 'node:events'
import type { UpMessage } from '../../contract/device/protocol.ts'
import { secondMs } from '../../contract/durations.ts'
import { type DeviceIdentity, DriverFailure, type DriverSession, type SessionEvents } from '../driver.ts'
import { changedFields } from './changed-fields.ts'

export type DeviceStatus = UpMessage<'status'>

export interface PollLimits {
  /** The option `pollSeconds`. */
  readonly pollSeconds: { readonly min: number; readonly max: number; readonly usual: number }
  /** The wait after a failed poll, unless the usual interval is shorter. */
  readonly retryMs: number
  /** The session ends when there has been no answer for this long. */
  readonly silenceMs: number
  /** With a long interval, the session ends this long after the first failed poll. */
  readonly graceMs: number
}
export const usualPollLimits: PollLimits = {
  pollSeconds: { min: 5, max: 3_600, usual: 20 },
  retryMs: 5 * secondMs,
  silenceMs: 40 * secondMs,
  graceMs: 20 * secondMs,
}

export interface PolledDevice {
  readonly identity: DeviceIdentity
  readonly status: DeviceStatus
  readonly intervalMs: number
  readonly limits: PollLimits
  readonly signal: AbortSignal
  /** Asks the device. Rejects if there is no answer, or one that cannot be used. */
  poll(): Promise<DeviceStatus>
  close(): void
}

export class PolledSession extends EventEmitter<SessionEvents> implements DriverSession {
  readonly identity: DeviceIdentity
  readonly #device: PolledDevice
  #status: DeviceStatus
  #failure: DriverFailure | undefined
  #next: NodeJS.Timeout | undefined
  #silence: NodeJS.Timeout | undefined
  #isOver = false
  readonly #abort = () => this.close()

  private constructor(device: PolledDevice) {
    super()
    this.#device = device
    this.identity = device.identity
    this.#status = device.status
  }

  /** Starts to poll a device that has just answered. */
  static start(device: PolledDevice): PolledSession {
    const session = new PolledSession(device)
    device.signal.addEventListener('abort', session.#abort, { once: true })
    const { intervalMs, limits } = device
    const silenceMs = Math.max(limits.silenceMs, intervalMs + limits.graceMs)
    session.#silence = setTimeout(() => session.#end(session.#silent()), silenceMs)
    session.#pollAfter(intervalMs)
    return session
  }

  status(): DeviceStatus {
    return this.#status
  }

  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#next)
    clearTimeout(this.#silence)
    this.#device.signal.removeEventListener('abort', this.#abort)
    this.#device.close()
  }

  /** The delay varies by a tenth, because many devices are connected in the same moment. */
  #pollAfter(delayMs: number): void {
    this.#next = setTimeout(() => void this.#poll(), delayMs * (0.9 + Math.random() / 10))
  }

  async #poll(): Promise<void> {
    const { intervalMs, limits } = this.#device
    const answer = await this.#device.poll().catch(failureOf)
    if (this.#isOver) return
    if (answer instanceof DriverFailure) {
      this.#failure = answer
      if (answer.state === 'REFUSED' || answer.state === 'CHANGED') this.#end(answer)
      else this.#pollAfter(Math.min(intervalMs, limits.retryMs))
      return
    }
    this.#failure = undefined
    this.#silence?.refresh()
    this.#pollAfter(intervalMs)
    this.#report(answer)
  }

  #report(status: DeviceStatus): void {
    const changes = changedFields(this.#status, status)
    this.#status = status
    if (changes) this.emit('status', changes)
  }

  #silent(): DriverFailure {
    return this.#failure ?? new DriverFailure('UNREACHABLE', 'The device has not answered the last question.')
  }

  #end(failure: DriverFailure): void {
    if (this.#isOver) return
    this.close()
    this.emit('ended', failure)
  }
}

/** Anything that goes wrong concerns this device only. */
const failureOf = (error: unknown): DriverFailure =>
  error instanceof DriverFailure
    ? error
    : new DriverFailure('UNREACHABLE', `The poll of the device failed: ${(error as Error).message}`)

// A room with meetings and devices, and what the service may conclude from their reports, counted step by step. [contract 12.idle]
import { hourMs, minuteMs } from '../../../src/contract/durations.ts'
import { isInCall, peopleIn } from '../../../src/simulator/room-day.ts'
import { between, seededRandom } from '../../../src/simulator/seeded-random.ts'
import type { RowDevice } from './row-device.ts'

export const stepMs = 20_000
const idleMs = 10 * minuteMs
const peopleMs = 5 * minuteMs

/** Hours of every day, in minutes after midnight UTC. */
export interface DailyHours {
  readonly from: number
  readonly to: number
}

export class DayDevice {
  readonly row: RowDevice
  readonly seed: number
  readonly hasPeopleSensor: boolean
  /** Whether the device refuses a reboot while it is in use. */
  readonly checks: boolean
  /** Times in which it has no network. */
  readonly outages: readonly { readonly from: number; readonly until: number }[]
  readonly sampleEveryMs: number
  /** How much later the device reports a call. */
  readonly lagMs: number
  lastPeople = 0
  statusAt = 0
  restartsUntil = 0
  restartedBy: string | undefined
  acknowledgedAt = 0
  refusedAt = 0

  constructor(row: RowDevice, seed: number, start: number, { hasPeopleSensor = true, checks = true }) {
    this.row = row
    this.seed = seed
    this.hasPeopleSensor = hasPeopleSensor
    this.checks = checks
    this.sampleEveryMs = between(3, 9, seededRandom(seed, 1)) * stepMs
    this.lagMs = between(0, 1, seededRandom(seed, 2)) * stepMs
    this.outages = Array.from({ length: between(0, 3, seededRandom(seed, 3)) }, (_, i) => {
      const from = start + between(1, 16 * 180 - 1, seededRandom(seed, 4, i)) * stepMs
      return { from, until: from + between(1, 270, seededRandom(seed, 5, i) ** 2) * stepMs }
    })
  }

  isOnline(at: number): boolean {
    return at >= this.restartsUntil && !this.outages.some(({ from, until }) => at >= from && at < until)
  }
}

export class DayRoom {
  readonly id: number
  readonly seed: number
  readonly devices: readonly DayDevice[]
  /** The change window of its location; undefined: always. */
  readonly window: DailyHours | undefined
  readonly #plan: Parameters<typeof peopleIn>[0]
  readonly #shiftMs: number
  readonly #truth = new Map<number, { people: number; isInCall: boolean }>()
  lastPeopleAt = 0
  /** How long it has not been busy while all of its devices were connected. */
  quietMs = idleMs

  constructor(id: number, seed: number, devices: readonly DayDevice[], window: DailyHours | undefined) {
    this.id = id
    this.seed = seed
    this.devices = devices
    this.window = window
    this.#plan = { name: 'Fjord', location: 0, timezone: 'UTC', seats: 8, seed, primaryMode: 'zoom' }
    this.#shiftMs = between(0, 89, seededRandom(seed, 6)) * stepMs
  }

  /** The course of a day in the room: people who meet, and whether they are in a call. A device without a sensor knows of calls only. */
  people = (at: number): number => this.#now(at).people
  isInCall = (at: number): boolean => this.#now(at).isInCall
  isUsed = (at: number): boolean =>
    this.devices.some((device) => device.hasPeopleSensor) ? this.people(at) > 0 : this.isInCall(at)

  isInWindow(at: number): boolean {
    if (!this.window) return true
    const minutes = (at % (24 * hourMs)) / minuteMs
    const { from, to } = this.window
    return from < to ? minutes >= from && minutes < to : minutes >= from || minutes < to
  }

  /** Counts the step that ends at this time, before anything is reported at this time. */
  countStep(at: number): void {
    if (this.#isInToldCall() || this.lastPeopleAt + peopleMs > at - stepMs) this.quietMs = 0
    else if (this.devices.every(({ row }) => row.connection)) this.quietMs += stepMs
  }

  /** Called after the reports of this time. */
  noteReports(at: number): void {
    if (this.isBusy(at)) this.quietMs = 0
  }

  isBusy = (at: number): boolean => this.#isInToldCall() || this.lastPeopleAt + peopleMs >= at

  isIdle(at: number): boolean {
    const mayBeInCall = this.devices.some(({ row }) => row.connection && row.toldCall !== undefined && !row.hasReported)
    return !this.isBusy(at) && !mayBeInCall && this.quietMs >= idleMs
  }

  /** Nothing changes within 5 minutes, so each is computed once. */
  #now(at: number): { readonly people: number; readonly isInCall: boolean } {
    const slot = Math.floor((at + this.#shiftMs) / peopleMs)
    const known = this.#truth.get(slot)
    if (known) return known
    const truth = { people: peopleIn(this.#plan, slot * peopleMs), isInCall: isInCall(this.#plan, slot * peopleMs) }
    this.#truth.set(slot, truth)
    return truth
  }

  #isInToldCall(): boolean {
    return this.devices.some(({ row }) => row.connection && row.toldCall)
  }
}

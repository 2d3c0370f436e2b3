// Counts the availability of a room: each second of the counted time is in one class, and the classes add up to it.
import { availabilityClasses } from '../contract/reports/availability.ts'
import { PeriodReader, type SecondsPeriod } from './periods.ts'

export type SecondClass = (typeof availabilityClasses)[number]

/** The classes that need not be charged. Seconds of a class that is not excluded fall to the next one that holds. */
export const excludableClasses = ['silenced', 'changeWindow', 'service', 'unknown', 'asleep', 'short'] as const
export type ExcludableClass = (typeof excludableClasses)[number]

export interface DevicePast {
  /** CODEC and COMPUTER are main devices; GATEWAY and NETWORK never are. */
  readonly kind: string
  /** When it was in the room, from its first connection on. */
  readonly present: readonly SecondsPeriod[]
  readonly connected: readonly SecondsPeriod[]
  /** After the end of a server, until it was back or its time to come back was over. */
  readonly service: readonly SecondsPeriod[]
  /** While its gateway or its source was away. */
  readonly unknown: readonly SecondsPeriod[]
  readonly asleep: readonly SecondsPeriod[]
  /** While a silence covered this device, but not the room. */
  readonly silenced: readonly SecondsPeriod[]
}

export interface RoomPast {
  readonly devices: readonly DevicePast[]
  /** While a silence covered the room. */
  readonly silenced: readonly SecondsPeriod[]
  readonly changeWindows: readonly SecondsPeriod[]
  /** While an incident of WARNING or worse about a device of the room was open. */
  readonly impaired: readonly SecondsPeriod[]
  /** Nothing is known before, because it was deleted, and after, because it has not happened. */
  readonly known: SecondsPeriod
}

export interface ClassOptions {
  readonly ignoreUnderSeconds: number
  readonly excluded: ReadonlySet<ExcludableClass>
}

/** A time in which nothing about the room changes. */
export interface ClassifiedPeriod {
  readonly from: number
  readonly to: number
  readonly name: SecondClass
  readonly isImpaired: boolean
  /** The whole time without a connection that it is a part of. */
  readonly gap: SecondsPeriod | undefined
}

/** Sums over counted seconds of one or several rooms. */
export interface AvailabilitySums {
  readonly seconds: Record<SecondClass, number>
  /** Seconds that are up while an incident was open. */
  impairedSeconds: number
  /** Times without a connection of which at least a second is charged. */
  outages: number
  /** The most charged seconds of one of them. */
  longestOutageSeconds: number
}

const noSeconds = Object.fromEntries(availabilityClasses.map((name) => [name, 0])) as Record<SecondClass, number>
export const noAvailability = (): AvailabilitySums => ({
  seconds: { ...noSeconds },
  impairedSeconds: 0,
  outages: 0,
  longestOutageSeconds: 0,
})

/** 1 - charged / (up + short + charged); undefined if no second is in these classes. */
export function availabilityShare({ seconds: { up, short, charged } }: AvailabilitySums): number | undefined {
  const total = up + short + charged
  return total === 0 ? undefined : 1 - charged / total
}

/** The main devices of a second: the codecs and computers that are there, or else all but gateways and network equipment. */
const isFirstChoice = (kind: string): boolean => kind === 'CODEC' || kind === 'COMPUTER'
const isNeverMain = (kind: string): boolean => kind === 'GATEWAY' || kind === 'NETWORK'

/** The facts of a time in which nothing changes. */
interface Step {
  readonly from: number
  readonly to: number
  readonly state: 'none' | 'up' | 'down'
  readonly isHeld: Readonly<Record<Exclude<ExcludableClass, 'short'>, boolean>>
  readonly isImpaired: boolean
}

/**
 * Gives each second of the past of a room its class, in order. What is not in a period is not known. Within a time without a connection,
 * whose class depends on its end, it yields undefined: a caller that lets others have their turn can do so at each result.
 */
export function* classify(room: RoomPast, options: ClassOptions): Generator<ClassifiedPeriod | undefined> {
  let gap: Step[] = []
  for (const step of stepsOf(room)) {
    if (step.state === 'down') {
      gap.push(step)
      yield undefined
      continue
    }
    yield* classifyGap(gap, options)
    gap = []
    yield step.state === 'up' ? classified(step, undefined, false, options) : undefined
  }
  yield* classifyGap(gap, options)
}

/** A gap is short or not as a whole, even if a report counts only a part of it. */
function* classifyGap(steps: readonly Step[], options: ClassOptions): Generator<ClassifiedPeriod> {
  const [first, last] = [steps[0], steps.at(-1)]
  if (!first || !last) return
  const gap: SecondsPeriod = [first.from, last.to]
  const isShort = last.to - first.from < options.ignoreUnderSeconds
  for (const step of steps) yield classified(step, gap, isShort, options)
}

function classified(
  step: Step,
  gap: SecondsPeriod | undefined,
  isShort: boolean,
  { excluded }: ClassOptions,
): ClassifiedPeriod {
  const { from, to, isImpaired } = step
  return { from, to, name: classOf(step, isShort, excluded), isImpaired, gap }
}

function classOf({ state, isHeld }: Step, isShort: boolean, excluded: ReadonlySet<ExcludableClass>): SecondClass {
  for (const name of ['silenced', 'changeWindow'] as const) if (isHeld[name] && excluded.has(name)) return name
  if (state === 'up') return 'up'
  for (const name of ['service', 'unknown', 'asleep'] as const) if (isHeld[name] && excluded.has(name)) return name
  return isShort && excluded.has('short') ? 'short' : 'charged'
}

/** Cuts the known time wherever something changes. */
function* stepsOf(room: RoomPast): Generator<Step> {
  const [knownFrom, knownTo] = room.known
  const [silenced, changeWindow, impaired] = [room.silenced, room.changeWindows, room.impaired].map(
    (periods) => new PeriodReader(periods),
  ) as [PeriodReader, PeriodReader, PeriodReader]
  const readers = room.devices.filter(({ kind }) => !isNeverMain(kind)).map((device) => new DeviceReader(device))
  const [first, others] = [readers.filter(({ isFirst }) => isFirst), readers.filter(({ isFirst }) => !isFirst)]
  for (let from = knownFrom; from < knownTo; ) {
    let to = Math.min(knownTo, silenced.changeAfter(from), changeWindow.changeAfter(from), impaired.changeAfter(from))
    for (const reader of readers) to = Math.min(to, reader.changeAfter(from))
    const main = mainDevicesOf(first) ?? mainDevicesOf(others)
    const isHeld = {
      silenced: silenced.has(from) || main?.areSilenced === true,
      changeWindow: changeWindow.has(from),
      service: main?.service === true,
      unknown: main?.unknown === true,
      asleep: main?.asleep === true,
    }
    const state = main === undefined ? 'none' : main.connected ? 'up' : 'down'
    yield { from, to, state, isHeld, isImpaired: impaired.has(from) }
    from = to
  }
}

const deviceFacts = ['present', 'connected', 'service', 'unknown', 'asleep', 'silenced'] as const

/** Reads which facts hold for a device at a time; `holds` has those of the last time that was asked for. */
class DeviceReader {
  readonly isFirst: boolean
  readonly holds: Record<(typeof deviceFacts)[number], boolean>
  readonly #readers: readonly (readonly [(typeof deviceFacts)[number], PeriodReader])[]
  #changeAt = Number.NEGATIVE_INFINITY

  constructor(past: DevicePast) {
    this.isFirst = isFirstChoice(past.kind)
    this.holds = { present: false, connected: false, service: false, unknown: false, asleep: false, silenced: false }
    this.#readers = deviceFacts.map((name) => [name, new PeriodReader(past[name])])
  }

  changeAfter(time: number): number {
    if (time < this.#changeAt) return this.#changeAt
    this.#changeAt = Number.POSITIVE_INFINITY
    for (const [name, reader] of this.#readers) {
      this.holds[name] = reader.has(time)
      this.#changeAt = Math.min(this.#changeAt, reader.changeAfter(time))
    }
    return this.#changeAt
  }
}

/** Says what is true of at least one of the devices that are present, and whether all of them are silenced. */
function mainDevicesOf(devices: readonly DeviceReader[]) {
  let isAnyPresent = false
  const main = { connected: false, service: false, unknown: false, asleep: false, areSilenced: true }
  for (const { holds } of devices) {
    if (!holds.present) continue
    isAnyPresent = true
    main.connected ||= holds.connected
    main.service ||= holds.service
    main.unknown ||= holds.unknown
    main.asleep ||= holds.asleep
    main.areSilenced &&= holds.silenced
  }
  return isAnyPresent ? main : undefined
}

/** Cuts the periods at the counted time. Both lists are in order. What no period has is not known. */
export function* cutAtCounted(
  periods: readonly ClassifiedPeriod[],
  counted: readonly SecondsPeriod[],
): Generator<ClassifiedPeriod> {
  let at = firstEndingAfter(periods, counted[0]?.[0] ?? 0)
  for (const [from, to] of counted) {
    let done = from
    while (at < periods.length) {
      const period = periods[at] as ClassifiedPeriod
      if (period.from >= to) break
      if (period.to > done) {
        if (period.from > done) yield notKnown(done, period.from)
        const end = Math.min(period.to, to)
        yield { ...period, from: Math.max(period.from, done), to: end }
        done = end
      }
      if (period.to > to) break
      at++
    }
    if (done < to) yield notKnown(done, to)
  }
}

const notKnown = (from: number, to: number): ClassifiedPeriod => ({
  from,
  to,
  name: 'notKnown',
  isImpaired: false,
  gap: undefined,
})

/** The periods do not overlap, so their ends are in order. */
function firstEndingAfter(periods: readonly ClassifiedPeriod[], time: number): number {
  let [low, high] = [0, periods.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((periods[middle] as ClassifiedPeriod).to <= time) low = middle + 1
    else high = middle
  }
  return low
}

/** Adds counted seconds of a room to sums. The periods must be added in order. */
export class AvailabilityAdder {
  readonly #sums: AvailabilitySums
  #outage: SecondsPeriod | undefined
  #charged = 0

  constructor(sums: AvailabilitySums) {
    this.#sums = sums
  }

  add({ from, to, name, isImpaired, gap }: ClassifiedPeriod): void {
    const sums = this.#sums
    const length = to - from
    sums.seconds[name] += length
    if (name === 'up' && isImpaired) sums.impairedSeconds += length
    if (name !== 'charged') return
    if (gap !== this.#outage) {
      this.#outage = gap
      this.#charged = 0
      sums.outages++
    }
    this.#charged += length
    sums.longestOutageSeconds = Math.max(sums.longestOutageSeconds, this.#charged)
  }
}

// Counts the availability of a room: each second of the counted time is in one class, and the classes add up to it.
import { availabilityClasses } from '../contract/reports/availability.ts'
import { joinPeriods, PeriodReader, type SecondsPeriod } from './periods.ts'

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

export const noAvailability = (): AvailabilitySums => ({
  seconds: Object.fromEntries(availabilityClasses.map((name) => [name, 0])) as Record<SecondClass, number>,
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

/** Gives each second of the past of a room its class, in order. What is not in a period is not known. */
export function* classify(room: RoomPast, options: ClassOptions): Generator<ClassifiedPeriod> {
  let gap: Step[] = []
  for (const step of stepsOf(room)) {
    if (step.state === 'down') {
      gap.push(step)
      continue
    }
    yield* classifyGap(gap, options)
    gap = []
    if (step.state === 'up') yield classified(step, undefined, false, options)
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
  const devices = room.devices.filter(({ kind }) => !isNeverMain(kind))
  const lists = [
    room.silenced,
    room.changeWindows,
    room.impaired,
    [room.known],
    ...devices.flatMap((d) => [d.present, d.connected, d.service, d.unknown, d.asleep, d.silenced]),
  ]
  const times = timesOf(lists, room.known)
  const read = (periods: readonly SecondsPeriod[]) => new PeriodReader(periods)
  const [silenced, changeWindow, impaired] = [read(room.silenced), read(room.changeWindows), read(room.impaired)]
  const readers = devices.map((device) => new DeviceReader(device))
  const [first, others] = [readers.filter(({ isFirst }) => isFirst), readers.filter(({ isFirst }) => !isFirst)]
  for (let i = 0; i + 1 < times.length; i++) {
    const [from, to] = [times[i] as number, times[i + 1] as number]
    const main = mainDevicesAt(first, from) ?? mainDevicesAt(others, from)
    const isHeld = {
      silenced: silenced.has(from) || main?.areSilenced === true,
      changeWindow: changeWindow.has(from),
      service: main?.service === true,
      unknown: main?.unknown === true,
      asleep: main?.asleep === true,
    }
    const state = main === undefined ? 'none' : main.connected ? 'up' : 'down'
    yield { from, to, state, isHeld, isImpaired: impaired.has(from) }
  }
}

class DeviceReader {
  readonly isFirst: boolean
  readonly present: PeriodReader
  readonly connected: PeriodReader
  readonly service: PeriodReader
  readonly unknown: PeriodReader
  readonly asleep: PeriodReader
  readonly silenced: PeriodReader

  constructor(past: DevicePast) {
    this.isFirst = isFirstChoice(past.kind)
    this.present = new PeriodReader(past.present)
    this.connected = new PeriodReader(past.connected)
    this.service = new PeriodReader(past.service)
    this.unknown = new PeriodReader(past.unknown)
    this.asleep = new PeriodReader(past.asleep)
    this.silenced = new PeriodReader(past.silenced)
  }
}

/** Says what is true of at least one of the devices that are present at a time, and whether all of them are silenced. */
function mainDevicesAt(devices: readonly DeviceReader[], time: number) {
  let isAnyPresent = false
  const main = { connected: false, service: false, unknown: false, asleep: false, areSilenced: true }
  for (const device of devices) {
    if (!device.present.has(time)) continue
    isAnyPresent = true
    main.connected ||= device.connected.has(time)
    main.service ||= device.service.has(time)
    main.unknown ||= device.unknown.has(time)
    main.asleep ||= device.asleep.has(time)
    main.areSilenced &&= device.silenced.has(time)
  }
  return isAnyPresent ? main : undefined
}

/** The starts and ends of periods within the known time, in order and once each. */
function timesOf(lists: readonly (readonly SecondsPeriod[])[], [knownFrom, knownTo]: SecondsPeriod): Float64Array {
  const times = new Float64Array(2 * lists.reduce((sum, list) => sum + list.length, 0))
  let count = 0
  for (const list of lists) {
    for (const [from, to] of list) {
      if (from >= knownFrom && from <= knownTo) times[count++] = from
      if (to >= knownFrom && to <= knownTo) times[count++] = to
    }
  }
  const sorted = times.subarray(0, count).sort()
  let kept = 0
  for (const time of sorted) if (kept === 0 || time !== sorted[kept - 1]) sorted[kept++] = time
  return sorted.subarray(0, kept)
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

/** Adds the counted seconds of a room to sums. */
export function addAvailability(
  sums: AvailabilitySums,
  periods: readonly ClassifiedPeriod[],
  counted: readonly SecondsPeriod[],
): void {
  let outage: SecondsPeriod | undefined
  let charged = 0
  for (const { from, to, name, isImpaired, gap } of cutAtCounted(periods, counted)) {
    const length = to - from
    sums.seconds[name] += length
    if (name === 'up' && isImpaired) sums.impairedSeconds += length
    if (name !== 'charged') continue
    if (gap !== outage) {
      outage = gap
      charged = 0
      sums.outages++
    }
    charged += length
    sums.longestOutageSeconds = Math.max(sums.longestOutageSeconds, charged)
  }
}

/** Joins the periods of several causes, such as silences of a room and of its location. */
export const anyOf = (...lists: readonly (readonly SecondsPeriod[])[]): SecondsPeriod[] => joinPeriods(lists.flat())

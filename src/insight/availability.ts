// Counts the availability of a room: each second of the counted time is in one class, and the classes add up to it.
import { joinPeriods, PeriodReader, type SecondsPeriod } from './periods.ts'

/** The classes, in the order in which they are tried. A second is in the first that holds. */
export const secondClasses = [
  'notKnown',
  'silenced',
  'changeWindow',
  'up',
  'service',
  'unknown',
  'asleep',
  'short',
  'charged',
] as const
export type SecondClass = (typeof secondClasses)[number]

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

export interface AvailabilityOptions {
  readonly counted: readonly SecondsPeriod[]
  readonly ignoreUnderSeconds: number
  readonly excluded: ReadonlySet<ExcludableClass>
}

export interface Availability {
  readonly seconds: Readonly<Record<SecondClass, number>>
  /** Seconds that are up while an incident was open. */
  readonly impairedSeconds: number
  /** Times without a connection of which at least a second is charged. */
  readonly outages: number
  /** The most charged seconds of one of them. */
  readonly longestOutageSeconds: number
  /** 1 - charged / (up + short + charged); absent if no second is in these classes. */
  readonly availability: number | undefined
}

/** The main devices of a second: the codecs and computers that are there, or else all but gateways and network equipment. */
const isFirstChoice = (kind: string): boolean => kind === 'CODEC' || kind === 'COMPUTER'
const isNeverMain = (kind: string): boolean => kind === 'GATEWAY' || kind === 'NETWORK'

/** The facts of a time in which nothing changes. */
interface Step {
  readonly from: number
  readonly to: number
  readonly state: 'none' | 'up' | 'down'
  readonly holds: ReadonlySet<SecondClass>
  readonly isCounted: boolean
  readonly isImpaired: boolean
}

export function countAvailability(room: RoomPast, options: AvailabilityOptions): Availability {
  const seconds = Object.fromEntries(secondClasses.map((name) => [name, 0])) as Record<SecondClass, number>
  let [impairedSeconds, outages, longestOutageSeconds] = [0, 0, 0]
  let gap: Step[] = []
  const endGap = () => {
    const [first, last] = [gap[0], gap.at(-1)]
    if (!first || !last) return
    const isShort = last.to - first.from < options.ignoreUnderSeconds
    let charged = 0
    for (const step of gap) {
      if (!step.isCounted) continue
      const name = classOf(step, isShort, options.excluded)
      seconds[name] += step.to - step.from
      if (name === 'charged') charged += step.to - step.from
    }
    if (charged > 0) outages++
    longestOutageSeconds = Math.max(longestOutageSeconds, charged)
    gap = []
  }
  for (const step of stepsOf(room, options.counted)) {
    if (step.state === 'down') {
      gap.push(step)
      continue
    }
    endGap()
    if (!step.isCounted) continue
    const name = step.state === 'none' ? 'notKnown' : classOf(step, false, options.excluded)
    seconds[name] += step.to - step.from
    if (name === 'up' && step.isImpaired) impairedSeconds += step.to - step.from
  }
  endGap()
  const total = seconds.up + seconds.short + seconds.charged
  const availability = total === 0 ? undefined : 1 - seconds.charged / total
  return { seconds, impairedSeconds, outages, longestOutageSeconds, availability }
}

function classOf(step: Step, isShort: boolean, excluded: ReadonlySet<ExcludableClass>): SecondClass {
  for (const name of secondClasses) {
    const isHeld = name === 'short' ? isShort : name === 'up' ? step.state === 'up' : step.holds.has(name)
    if (isHeld && (name === 'up' || excluded.has(name as ExcludableClass))) return name
  }
  return 'charged'
}

/** Cuts the known time, and the counted time, wherever something changes. A gap is read as a whole, even outside of the counted time. */
function* stepsOf(room: RoomPast, counted: readonly SecondsPeriod[]): Iterable<Step> {
  const devices = room.devices.filter(({ kind }) => !isNeverMain(kind))
  const all = [
    counted,
    room.silenced,
    room.changeWindows,
    room.impaired,
    [room.known],
    ...devices.flatMap((d) => [d.present, d.connected, d.service, d.unknown, d.asleep, d.silenced]),
  ]
  const times = [...new Set(all.flat(2))].sort((a, b) => a - b)
  const read = (periods: readonly SecondsPeriod[]) => new PeriodReader(periods)
  const readers = {
    counted: read(counted),
    silenced: read(room.silenced),
    changeWindows: read(room.changeWindows),
    impaired: read(room.impaired),
    known: read([room.known]),
  }
  const deviceReaders = devices.map((d) => ({
    isFirst: isFirstChoice(d.kind),
    present: read(d.present),
    connected: read(d.connected),
    service: read(d.service),
    unknown: read(d.unknown),
    asleep: read(d.asleep),
    silenced: read(d.silenced),
  }))
  for (let i = 0; i + 1 < times.length; i++) {
    const [from, to] = [times[i] as number, times[i + 1] as number]
    const present = readers.known.has(from) ? deviceReaders.filter(({ present }) => present.has(from)) : []
    const first = present.filter(({ isFirst }) => isFirst)
    const main = first.length > 0 ? first : present
    const any = (name: 'connected' | 'service' | 'unknown' | 'asleep') => main.some((device) => device[name].has(from))
    const isUp = any('connected')
    const holds = new Set<SecondClass>()
    if (readers.silenced.has(from) || (main.length > 0 && main.every(({ silenced }) => silenced.has(from)))) {
      holds.add('silenced')
    }
    if (readers.changeWindows.has(from)) holds.add('changeWindow')
    for (const name of ['service', 'unknown', 'asleep'] as const) if (any(name)) holds.add(name)
    const state = main.length === 0 ? 'none' : isUp ? 'up' : 'down'
    yield { from, to, state, holds, isCounted: readers.counted.has(from), isImpaired: readers.impaired.has(from) }
  }
}

/** Joins the periods of several causes, such as silences of a room and of its location. */
export const anyOf = (...lists: readonly (readonly SecondsPeriod[])[]): SecondsPeriod[] => joinPeriods(lists.flat())

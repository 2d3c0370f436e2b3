// The report of how available rooms were, made of their past. [contract 16.availability]
import type { Static, TObject } from 'typebox'
import { minuteSeconds, secondMs } from '../../../contract/durations.ts'
import {
  type AvailabilityFigureName,
  type AvailabilityPeriod,
  type AvailabilityRow,
  availabilityClasses,
  maxReportPeriods,
} from '../../../contract/reports/availability.ts'
import { isTargetMet, roundedAvailability } from '../../../contract/reports/availability-target.ts'
import type { ReportGroup, reportPlace } from '../../../contract/reports/report-query.ts'
import {
  AvailabilityAdder,
  type AvailabilitySums,
  availabilityShare,
  type ClassifiedPeriod,
  type ClassOptions,
  classify,
  cutAtCounted,
  type ExcludableClass,
  excludableClasses,
  noAvailability,
  type SecondClass,
} from '../../../insight/availability.ts'
import type { SecondsPeriod } from '../../../insight/periods.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { isoTime } from '../../core/clock.ts'
import { invalid } from '../../core/failure.ts'
import { quarterSeconds } from '../../core/time/slots.ts'
import type { CountedPart, CountedZone } from '../counted-zones.ts'
import type { CountedRoom, ReportKind } from '../report-kind.ts'
import type { ReportRequest } from '../report-request.ts'
import type { Turns } from '../turns.ts'
import { type PastContext, type PastWindow, RoomPasts } from './room-pasts.ts'

/** Sums of a row, and what is said of its rooms one by one. */
interface Sums extends AvailabilitySums {
  roomsBelowTarget: number
}

type Row = Omit<AvailabilityRow, keyof Static<TObject<typeof reportPlace>>>

export interface AvailabilityOptions extends ClassOptions {
  /** In percent. */
  readonly target: number
}

/** Reads the options of a request; the organisation has the defaults. */
export function availabilityOptionsOf(
  { ignoreUnderMinutes, exclude }: { readonly ignoreUnderMinutes?: number; readonly exclude?: string },
  org: { readonly availability_target: number; readonly ignore_under_minutes: number },
): AvailabilityOptions {
  return {
    ignoreUnderSeconds: (ignoreUnderMinutes ?? org.ignore_under_minutes) * minuteSeconds,
    excluded: excludedOf(exclude),
    target: org.availability_target / 1000,
  }
}

function excludedOf(text: string | undefined): ReadonlySet<ExcludableClass> {
  if (text === undefined) return new Set(excludableClasses)
  if (text.trim() === 'none') return new Set()
  const named = text.split(',').map((name) => name.trim())
  if (named.every((name) => (excludableClasses as readonly string[]).includes(name))) {
    return new Set(excludableClasses.filter((name) => named.includes(name)))
  }
  const error = `must be names from ${excludableClasses.join(', ')}, separated by commas, or none`
  throw invalid([{ field: 'exclude', error }])
}

/** So many rooms times days are read together: their connections are a few pages of spans. */
const maxRoomDaysPerRead = 1500
/** Periods that are classified or counted in one step: a device that loses its connection often has 100,000 in a year. */
const periodsPerStep = 200

export interface RoomPeriods {
  readonly periods: readonly ClassifiedPeriod[]
  readonly zone: CountedZone
}

/** Classifies the seconds of rooms, each room once, whatever the rows of the report are. */
export class AvailabilityReader {
  readonly #ctx: PastContext
  readonly #window: PastWindow
  readonly #pasts: RoomPasts
  readonly #options: AvailabilityOptions
  readonly #counted = new WeakMap<CountedPart, readonly SecondsPeriod[]>()

  constructor(
    { db, presenceTimes, settings }: RequestContext,
    { earliest, latest }: ReportRequest,
    options: AvailabilityOptions,
  ) {
    const { ignoreUnderSeconds } = options
    this.#ctx = { db, presenceTimes, rollupRetentionSeconds: settings.rollupRetentionSeconds }
    this.#window = { from: earliest, to: latest, ignoreUnderSeconds }
    this.#pasts = new RoomPasts(this.#ctx, this.#window)
    this.#options = options
  }

  /** A time without a connection can begin before what is read and end after it; whether it is short is known. */
  async read(rooms: readonly CountedRoom[], turns: Turns): Promise<ReadonlyMap<number, RoomPeriods>> {
    return this.#readFrom(this.#pasts, rooms, turns)
  }

  /** Classifies the seconds of one room. Each time without a connection of which its window has a part is read as a whole. */
  async readWhole(room: CountedRoom, turns: Turns): Promise<RoomPeriods | undefined> {
    const { window } = room.zone
    let { from, to } = this.#window
    for (let pasts = this.#pasts; ; pasts = new RoomPasts(this.#ctx, { ...this.#window, from, to })) {
      const read = (await this.#readFrom(pasts, [room], turns)).get(room.room.id)
      const first = read?.periods.find((period) => period.to > window.from)
      const last = read?.periods.findLast((period) => period.from < window.to)
      const [isCutBefore, isCutAfter] = pasts.cuts(first?.gap, last?.gap)
      if (!isCutBefore && !isCutAfter) return read
      const length = to - from
      if (isCutBefore) from -= 3 * length
      if (isCutAfter) to += 3 * length
    }
  }

  async #readFrom(
    reader: RoomPasts,
    rooms: readonly CountedRoom[],
    turns: Turns,
  ): Promise<ReadonlyMap<number, RoomPeriods>> {
    const pasts = await reader.read(
      rooms.map(({ room }) => room),
      turns,
    )
    const classified = new Map<number, RoomPeriods>()
    let step = 0
    for (const { room, zone } of rooms) {
      const periods: ClassifiedPeriod[] = []
      const past = pasts.get(room.id)
      for (const period of past ? classify(past, this.#options) : []) {
        if (period) periods.push(period)
        if (++step % periodsPerStep === 0) await turns.next()
      }
      classified.set(room.id, { periods, zone })
      await turns.next()
    }
    return classified
  }

  /** The sums of each part of the window of a room. */
  async sumsOf({ periods, zone }: RoomPeriods, turns: Turns): Promise<ReadonlyMap<CountedPart, AvailabilitySums>> {
    const sumsByPart = new Map<CountedPart, AvailabilitySums>()
    let step = 0
    for (const part of zone.parts) {
      const sums = noAvailability()
      const adder = new AvailabilityAdder(sums)
      for (const period of cutAtCounted(periods, this.countedOf(part, zone))) {
        adder.add(period)
        if (++step % periodsPerStep === 0) await turns.next()
      }
      sumsByPart.set(part, sums)
      if (++step % periodsPerStep === 0) await turns.next()
    }
    return sumsByPart
  }

  /** The counted seconds of a part of a window. Rooms of a time zone share them. */
  countedOf(part: CountedPart, { window }: CountedZone): readonly SecondsPeriod[] {
    const known = this.#counted.get(part)
    if (known) return known
    const periods: [number, number][] = []
    for (const { quarter } of part.quarters) {
      const from = Math.max(quarter * quarterSeconds, window.from)
      const to = Math.min((quarter + 1) * quarterSeconds, window.to)
      const last = periods.at(-1)
      if (last && last[1] === from) last[1] = to
      else periods.push([from, to])
    }
    this.#counted.set(part, periods)
    return periods
  }
}

export function availabilityReport(reader: AvailabilityReader, { target }: AvailabilityOptions): ReportKind<Sums, Row> {
  return {
    id: 'reportsAvailability',
    empty: () => ({ ...noAvailability(), roomsBelowTarget: 0 }),
    roomsAtOnce: (days) => Math.max(1, Math.min(50, Math.floor(maxRoomDaysPerRead / (days + 1)))),
    async read(rooms, turns) {
      const sumsOfRooms = new Map<number, ReadonlyMap<CountedPart, AvailabilitySums>>()
      for (const [id, periods] of await reader.read(rooms, turns)) {
        sumsOfRooms.set(id, await reader.sumsOf(periods, turns))
      }
      return (room, part, sums) => {
        const ofRoom = sumsOfRooms.get(room.id)?.get(part)
        if (!ofRoom) return
        addSums(sums, ofRoom)
        const share = availabilityShare(ofRoom)
        if (share !== undefined && !isTargetMet(share, target)) sums.roomsBelowTarget++
      }
    },
    figure: (sums, name) => figureOf(sums, name as AvailabilityFigureName),
    figures: (sums, group) => rowOf(sums, group, target),
  }
}

function addSums(sums: Sums, ofRoom: AvailabilitySums): void {
  for (const name of availabilityClasses) sums.seconds[name] += ofRoom.seconds[name]
  sums.impairedSeconds += ofRoom.impairedSeconds
  sums.outages += ofRoom.outages
  sums.longestOutageSeconds = Math.max(sums.longestOutageSeconds, ofRoom.longestOutageSeconds)
}

function figureOf(sums: Sums, name: AvailabilityFigureName): number | undefined {
  if (name === 'availability') return availabilityShare(sums)
  if (name === 'outages' || name === 'longestOutageSeconds' || name === 'impairedSeconds') return sums[name]
  return sums.seconds[name.replace(/Seconds$/, '') as SecondClass]
}

function rowOf(sums: Sums, group: ReportGroup, target: number): Row {
  const { seconds, impairedSeconds, outages, longestOutageSeconds, roomsBelowTarget } = sums
  const share = availabilityShare(sums)
  return {
    countedSeconds: availabilityClasses.reduce((sum, name) => sum + seconds[name], 0),
    notKnownSeconds: seconds.notKnown,
    silencedSeconds: seconds.silenced,
    changeWindowSeconds: seconds.changeWindow,
    upSeconds: seconds.up,
    serviceSeconds: seconds.service,
    unknownSeconds: seconds.unknown,
    asleepSeconds: seconds.asleep,
    shortSeconds: seconds.short,
    chargedSeconds: seconds.charged,
    ...(share !== undefined && { availability: roundedAvailability(share), isTargetMet: isTargetMet(share, target) }),
    ...((group === 'location' || group === 'region') && { roomsBelowTarget }),
    outages,
    longestOutageSeconds,
    impairedSeconds,
  }
}

/** The periods of a room that its figures consist of, as far as an answer shows them. */
export async function periodsOfRoom(
  reader: AvailabilityReader,
  room: CountedRoom,
  turns: Turns,
): Promise<{ periods: AvailabilityPeriod[]; omittedPeriods?: number }> {
  const own = await reader.readWhole(room, turns)
  const shown: ClassifiedPeriod[] = []
  let [count, step] = [0, 0]
  let last: ClassifiedPeriod | undefined
  for (const part of room.zone.parts) {
    for (const period of cutAtCounted(own?.periods ?? [], reader.countedOf(part, room.zone))) {
      if (++step % periodsPerStep === 0) await turns.next()
      const isSame = last && last.to === period.from && isAlike(last, period)
      if (last && isSame) {
        last = { ...last, to: period.to }
        if (count <= maxReportPeriods) shown[shown.length - 1] = last
        continue
      }
      last = period
      if (++count <= maxReportPeriods) shown.push(period)
    }
  }
  const periods: AvailabilityPeriod[] = []
  for (const period of shown) {
    if (periods.push(periodView(period)) % periodsPerStep === 0) await turns.next()
  }
  const omitted = count - shown.length
  return { periods, ...(omitted > 0 && { omittedPeriods: omitted }) }
}

/** The past is cut at more times than the answer needs to show. */
const isAlike = (a: ClassifiedPeriod, b: ClassifiedPeriod): boolean =>
  a.name === b.name && a.gap === b.gap && impairedIn(a) === impairedIn(b)

const impairedIn = ({ name, isImpaired }: ClassifiedPeriod): boolean => name === 'up' && isImpaired

function periodView(period: ClassifiedPeriod): AvailabilityPeriod {
  const { from, to, name, gap } = period
  return {
    from: isoTime(from * secondMs),
    to: isoTime(to * secondMs),
    class: name,
    seconds: to - from,
    ...(impairedIn(period) && { isImpaired: true }),
    ...(gap && { gapFrom: isoTime(gap[0] * secondMs), gapTo: isoTime(gap[1] * secondMs) }),
  }
}

// Counts the availability of a room second by second from plain facts, apart from the code of the service. [contract 16.availability]
import { type Weekday, type WeeklyHours, weekdays } from '../../../src/contract/weekly-hours.ts'
import type { PastWorld, PlainDevice, PlainRoom, PlainSpan } from './past-world.ts'
import { PlainClock, weekdayOf } from './plain-clock.ts'

const settleSeconds = 600
/** Each list of marks takes 4 MB. */
const keptMarksCount = 12
const secondOf = (ms: number) => Math.floor(ms / 1000)

export interface PlainRequest {
  /** In Unix seconds, of the window of one room. */
  readonly from: number
  readonly to: number
  /** Minutes of the day; undefined counts everything. */
  readonly hours: { readonly from: number; readonly to: number; readonly days: readonly Weekday[] } | undefined
  readonly ignoreUnderSeconds: number
  readonly excluded: ReadonlySet<string>
  /** Nothing older is known. */
  readonly retainedFrom: number
}

export interface PlainRow {
  readonly counts: Readonly<Record<string, number>>
  readonly impaired: number
  readonly outages: number
  readonly longest: number
}

export interface PlainOutages {
  readonly outages: number
  readonly longest: number
}

const names = [
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
const [present, connected, service, unknown, asleep, silenced, rest] = [1, 2, 4, 8, 16, 32, 64]
/** Beside eight bits of the devices and eight of the room. */
const countedBit = 1 << 16
/** Stands for a day: the minute does not count. */
const notCounted = -1

interface Facts {
  readonly bits: Uint8Array
  readonly held: Uint8Array
}

/** The facts of one stretch of time, second by second. */
export class PlainPast {
  readonly #world: PastWorld
  readonly #from: number
  readonly #length: number
  readonly #clocks = new Map<string, PlainClock>()
  readonly #away = new Map<string, Uint8Array>()
  readonly #marks = new Map<string, Uint8Array>()
  readonly #facts = new Map<number, Facts>()

  /** In Unix seconds. */
  constructor(world: PastWorld, from: number, to: number) {
    this.#world = world
    this.#from = from
    this.#length = to - from
  }

  clockOf(zone: string): PlainClock {
    const known = this.#clocks.get(zone)
    if (known) return known
    const clock = new PlainClock(zone, this.#from - 3 * 86_400, this.#from + this.#length + 3 * 86_400)
    this.#clocks.set(zone, clock)
    return clock
  }

  /** The rows of a room for several requests. */
  rows(room: PlainRoom, requests: readonly PlainRequest[]): PlainRow[] {
    const facts = this.#factsOf(room)
    return requests.map((request) => this.#row(room, facts, request))
  }

  #row(room: PlainRoom, { bits, held }: Facts, request: PlainRequest): PlainRow {
    const { ignoreUnderSeconds, excluded } = request
    const counts: Record<string, number> = Object.fromEntries(names.map((name) => [name, 0]))
    const has = (name: string) => excluded.has(name)
    const [bySilence, byWindow, byService] = [has('silenced'), has('changeWindow'), has('service')]
    const [byUnknown, bySleep, byShort] = [has('unknown'), has('asleep'), has('short')]
    const add = (name: string, seconds: number) => {
      counts[name] = (counts[name] as number) + seconds
    }
    let [impaired, outages, longest, length, open] = [0, 0, 0, 0, 0]
    const endGap = () => {
      if (open > 0 && length < ignoreUnderSeconds && byShort) add('short', open)
      else if (open > 0) {
        add('charged', open)
        outages++
        longest = Math.max(longest, open)
      }
      length = 0
      open = 0
    }
    const states = this.#states(room, { bits, held }, request)
    const past = this.#length
    // Seconds of the same state, one after the other, are added together.
    for (let i = 0, end = 0; i < past; i = end) {
      const state = states[i] as number
      for (end = i + 1; end < past && states[end] === state; ) end++
      const seconds = end - i
      const [own, ofRoom, isCounted] = [state & 255, (state >> 8) & 255, (state & countedBit) !== 0]
      if (own === 0) {
        endGap()
        if (isCounted) add('notKnown', seconds)
        continue
      }
      const isUp = (own & connected) !== 0
      if (isUp) endGap()
      else length += seconds
      if (!isCounted) continue
      if (bySilence && (ofRoom & 1) !== 0) add('silenced', seconds)
      else if (byWindow && (ofRoom & 2) !== 0) add('changeWindow', seconds)
      else if (isUp) {
        add('up', seconds)
        if ((ofRoom & 4) !== 0) impaired += seconds
      } else if (byService && (own & service) !== 0) add('service', seconds)
      else if (byUnknown && (own & unknown) !== 0) add('unknown', seconds)
      else if (bySleep && (own & asleep) !== 0) add('asleep', seconds)
      else open += seconds
    }
    endGap()
    return { counts, impaired, outages, longest }
  }

  /** The facts of each second, and whether the second counts. */
  #states(room: PlainRoom, { bits, held }: Facts, request: PlainRequest): Uint32Array {
    const { from, to, retainedFrom } = request
    const days = this.#countedDays(room, request)
    const past = this.#length
    const [first, last] = [secondOf(retainedFrom) - this.#from, secondOf(this.#world.now) - this.#from]
    const [start, stop] = [from - this.#from, to - this.#from]
    const states = new Uint32Array(past)
    for (let minute = 0, i = 0; i < past; minute++) {
      const isIn = days[minute] !== notCounted
      for (const end = Math.min(i + 60, past); i < end; i++) {
        const own = i >= first && i < last ? (bits[i] as number) : 0
        states[i] = own | ((held[i] as number) << 8) | (isIn && i >= start && i < stop ? countedBit : 0)
      }
    }
    return states
  }

  /** The outages of a room by the day that its clock shows, or by the Monday of its week. An outage in two of them is in both. */
  outagesBy(group: 'day' | 'week', room: PlainRoom, request: PlainRequest): ReadonlyMap<number, PlainOutages> {
    const { ignoreUnderSeconds, excluded } = request
    const states = this.#states(room, this.#factsOf(room), request)
    const mondayOf = (day: number) => day - weekdays.indexOf(weekdayOf(day))
    const days = this.#countedDays(room, request)
    const groups = group === 'day' ? days : days.map((day) => (day === notCounted ? day : mondayOf(day)))
    const bits = { silenced: 1 << 8, changeWindow: 2 << 8, service, unknown, asleep }
    const excuses = Object.entries(bits).reduce((all, [name, bit]) => (excluded.has(name) ? all | bit : all), 0)
    const found = new Map<number, { outages: number; longest: number }>()
    const charged = new Map<number, number>()
    let length = 0
    const endGap = () => {
      if (length >= ignoreUnderSeconds || !excluded.has('short')) {
        for (const [first, seconds] of charged) {
          const own = found.get(first) ?? { outages: 0, longest: 0 }
          found.set(first, { outages: own.outages + 1, longest: Math.max(own.longest, seconds) })
        }
      }
      charged.clear()
      length = 0
    }
    for (const [i, state] of states.entries()) {
      const own = state & 255
      if (own === 0 || (own & connected) !== 0) {
        if (length > 0) endGap()
        continue
      }
      length++
      if ((state & countedBit) === 0 || (state & excuses) !== 0) continue
      const first = groups[Math.floor(i / 60)] as number
      charged.set(first, (charged.get(first) ?? 0) + 1)
    }
    endGap()
    return found
  }

  /** The times in which the room had main devices and none of them was connected. */
  gapsOf(room: PlainRoom, retainedFrom: number): readonly (readonly [from: number, to: number])[] {
    const { bits } = this.#mainFacts(room, { hasSilences: false })
    const first = Math.max(0, secondOf(retainedFrom) - this.#from)
    const last = Math.min(this.#length, secondOf(this.#world.now) - this.#from)
    const gaps: [number, number][] = []
    for (let i = first, isDown = false; i < last; i++) {
      const own = bits[i] as number
      const wasDown = isDown
      isDown = own !== 0 && (own & connected) === 0
      if (isDown && !wasDown) gaps.push([this.#from + i, this.#from + i])
      if (isDown) (gaps.at(-1) as [number, number])[1] = this.#from + i + 1
    }
    return gaps
  }

  /** `bits` has what any main device was in a second, `held` what held for the room. They take 8 MB for a room. */
  #factsOf(room: PlainRoom): Facts {
    const facts = this.#facts.get(room.id) ?? this.#makeFacts(room)
    this.#facts.set(room.id, facts)
    return facts
  }

  #makeFacts(room: PlainRoom): Facts {
    const held = this.#roomFacts(room)
    const { bits, all } = this.#mainFacts(room, { hasSilences: true })
    for (let i = 0; i < bits.length; i++) {
      if (bits[i] !== 0 && ((all[i] as number) & silenced) !== 0) held[i] = (held[i] as number) | 1
    }
    return { bits, held }
  }

  /** `all` has what all main devices were. */
  #mainFacts(room: PlainRoom, { hasSilences }: { readonly hasSilences: boolean }) {
    const [anyFirst, allFirst] = [new Uint8Array(this.#length), new Uint8Array(this.#length).fill(255)]
    const [anyOther, allOther] = [new Uint8Array(this.#length), new Uint8Array(this.#length).fill(255)]
    for (const device of this.#world.devices) {
      if (!device.stays.some((stay) => stay.room === room.id)) continue
      const { bits, kinds } = this.#deviceFacts(device, room)
      if (hasSilences) this.#markSilences(bits, device, room)
      for (let i = 0; i < bits.length; i++) {
        const own = bits[i] as number
        if ((own & present) === 0) continue
        if (kinds[i] === 2) {
          anyFirst[i] = (anyFirst[i] as number) | own
          allFirst[i] = (allFirst[i] as number) & own
        } else if (kinds[i] === 1) {
          anyOther[i] = (anyOther[i] as number) | own
          allOther[i] = (allOther[i] as number) & own
        }
      }
    }
    for (let i = 0; i < anyFirst.length; i++) {
      if (anyFirst[i] !== 0) continue
      anyFirst[i] = anyOther[i] as number
      allFirst[i] = allOther[i] as number
    }
    return { bits: anyFirst, all: allFirst }
  }

  /** The day that the clock shows in each minute, counted since 1970, if the minute counts. Windows and hours begin at whole minutes, or are cut second by second. */
  #countedDays(room: PlainRoom, { hours }: PlainRequest): Int32Array {
    const days = new Int32Array(Math.ceil(this.#length / 60))
    const clock = this.clockOf(this.#zoneOf(room))
    for (let i = 0; i < days.length; i++) {
      const quarter = Math.floor((this.#from + i * 60) / 900) * 900
      const shown = clock.at(quarter)
      const [day, time] = [Math.floor(shown / 1440), shown - Math.floor(shown / 1440) * 1440]
      const isIn = (weekday: Weekday, at: number) =>
        hours?.days.includes(weekday) === true && at >= hours.from && at < hours.to
      const isCounted = !hours || isIn(weekdayOf(day), time) || isIn(weekdayOf(day - 1), time + 1440)
      days[i] = isCounted ? day : notCounted
    }
    return days
  }

  #zoneOf(room: PlainRoom): string {
    return this.#location(room).zone
  }

  #location(room: PlainRoom) {
    const location = this.#world.locations.find(({ id }) => id === room.location)
    if (!location) throw new Error('no location')
    return location
  }

  /** Bits of the room: 1 silenced, 2 in a change window, 4 impaired. */
  #roomFacts(room: PlainRoom): Uint8Array {
    const bits = new Uint8Array(this.#length)
    const location = this.#location(room)
    for (const { place, placeId, rules, since, until, weekly } of this.#world.silences) {
      if (rules && !rules.includes('device.offline')) continue
      const isHere =
        place === 'all' ||
        (place === 'region' && placeId === String(location.region)) ||
        (place === 'location' && placeId === String(location.id)) ||
        (place === 'room' && placeId === String(room.id))
      if (isHere)
        this.#mark(bits, 1, secondOf(since), until === null ? Infinity : secondOf(until), weekly, location.zone)
    }
    let since = -Infinity
    for (const { until, hours } of location.windows) {
      const end = Number.isFinite(until) ? secondOf(until) : Infinity
      if (hours) this.#mark(bits, 2, since, end, hours, location.zone)
      since = end
    }
    for (const { severity, openedAt, resolvedAt, reopenings, subjects } of this.#world.incidents) {
      if (severity === 'INFO') continue
      for (const subject of subjects) {
        if (subject.room !== room.id) continue
        const end = Math.min(subject.endedAt ?? Infinity, resolvedAt ?? Infinity)
        const reopened = reopenings.find((at) => at >= subject.since && at < end)
        const start = reopened ?? Math.max(openedAt, subject.since)
        this.#mark(bits, 4, secondOf(start), Number.isFinite(end) ? secondOf(end) : Infinity)
      }
    }
    return bits
  }

  #mark(bits: Uint8Array, bit: number, from: number, to: number, weekly?: WeeklyHours | null, zone?: string): void {
    const end = Math.min(to - this.#from, this.#length)
    const marks = weekly && zone ? this.#marksOf(weekly, zone) : undefined
    for (let i = Math.max(0, from - this.#from); i < end; i++) {
      if (!marks || marks[i] === 1) bits[i] = (bits[i] as number) | bit
    }
  }

  /** One number for each second. */
  #marksOf(weekly: WeeklyHours, zone: string): Uint8Array {
    const key = `${zone} ${JSON.stringify(weekly)}`
    const known = this.#marks.get(key)
    if (known) return known
    const clock = this.clockOf(zone)
    const minutes = clock.marksOf(weekly)
    const seconds = new Uint8Array(this.#length)
    for (let i = 0; i < this.#length; i++) {
      seconds[i] = minutes[Math.floor((this.#from + i) / 60) - clock.firstMinute] as number
    }
    if (this.#marks.size >= keptMarksCount) this.#marks.clear()
    this.#marks.set(key, seconds)
    return seconds
  }

  /** `kinds` has 2 for a codec or a computer, 1 for what is main without one, and 0 for what never is. */
  #deviceFacts(device: PlainDevice, room: PlainRoom) {
    const bits = new Uint8Array(this.#length)
    const kinds = new Uint8Array(this.#length)
    const fill = (bit: number, from: number, to: number) => this.#mark(bits, bit, from, to)
    const firstAt = device.spans.find(({ since, until }) => until === undefined || until >= since)?.since
    if (firstAt === undefined) return { bits, kinds }
    for (const stay of device.stays) {
      if (stay.room !== room.id) continue
      const kind = stay.isForgotten ? 'OTHER' : kindOf(stay)
      const [from, to] = [Math.max(stay.since, secondOf(firstAt)), stay.until ?? Infinity]
      fill(present, from, to)
      const value = kind === 'CODEC' || kind === 'COMPUTER' ? 2 : kind === 'GATEWAY' || kind === 'NETWORK' ? 0 : 1
      for (let i = Math.max(0, from - this.#from); i < Math.min(to - this.#from, this.#length); i++) kinds[i] = value
    }
    for (const { span, from, to } of gapsOf(device.spans)) this.#markGap(bits, span, from, to)
    for (const { since, until } of device.spans)
      fill(connected, secondOf(since), until === undefined ? Infinity : secondOf(until))
    return { bits, kinds }
  }

  #markSilences(bits: Uint8Array, device: PlainDevice, room: PlainRoom): void {
    const { zone } = this.#location(room)
    for (const { place, placeId, rules, since, until, weekly } of this.#world.silences) {
      if (place !== 'endpoint' || placeId !== device.id || (rules && !rules.includes('device.offline'))) continue
      this.#mark(bits, silenced, secondOf(since), until === null ? Infinity : secondOf(until), weekly, zone)
    }
  }

  #markGap(bits: Uint8Array, span: PlainSpan, fromMs: number, toMs: number): void {
    const away = this.#awayOf(span.gateway, span.source)
    const to = Number.isFinite(toMs) ? secondOf(toMs) : Infinity
    const ended = span.why === 'SERVER_ENDED' ? fromMs + settleSeconds * 1000 : fromMs
    const settled = secondOf(Math.max(fromMs, span.unknownUntil ?? ended))
    const awake = span.oversleptAt === null ? Infinity : secondOf(span.oversleptAt)
    for (let i = Math.max(0, secondOf(fromMs) - this.#from); i < Math.min(to - this.#from, this.#length); i++) {
      const second = this.#from + i
      let own = 0
      if (second < settled) own |= service
      if (away?.[i] === 1) own |= unknown
      if (span.isRested && second >= settled && second < awake && away?.[i] !== 1) own |= asleep
      bits[i] = (bits[i] as number) | own | rest
    }
  }

  /** The seconds in which nothing is known about the devices of a gateway and a source. */
  #awayOf(gateway: string | null, source: string | null): Uint8Array | undefined {
    if (gateway === null) return undefined
    const key = `${gateway} ${source}`
    const known = this.#away.get(key)
    if (known) return known
    const away = new Uint8Array(this.#length)
    const { devices, gateways, sources } = this.#world
    const deletedAt = gateways.find(({ id }) => id === gateway)?.deletedAt
    const gone = deletedAt === undefined ? Infinity : secondOf(deletedAt)
    const spans = devices.find(({ id }) => id === gateway)?.spans ?? []
    for (const { from, to } of gapsOf(spans)) {
      if (secondOf(from) >= gone) continue
      this.#mark(
        away,
        1,
        secondOf(from) - 60,
        Math.min(Number.isFinite(to) ? secondOf(to) + settleSeconds : Infinity, gone),
      )
    }
    const own = sources.find(({ id }) => id === source)
    const ownGone = own?.deletedAt === undefined ? Infinity : secondOf(own.deletedAt)
    for (const { since, until } of own?.absences ?? []) {
      const end = until === null ? Infinity : secondOf(until) + settleSeconds
      this.#mark(away, 1, secondOf(since) - 60, Math.min(end, ownGone))
    }
    this.#away.set(key, away)
    return away
  }
}

const kindOf = ({ model, kind }: { readonly model: string; readonly kind: string | undefined }): string => {
  if (model === 'NF19B1') return 'CODEC'
  return model === 'NF19A1' ? 'CONTROLLER' : (kind ?? 'OTHER')
}

/** The times after connections until the next one, or without end. Connections that overlap have none between them. */
function* gapsOf(spans: readonly PlainSpan[]): Iterable<{ span: PlainSpan; from: number; to: number }> {
  for (const [i, span] of spans.entries()) {
    if (span.until === undefined) return
    const next = spans[i + 1]?.since ?? Infinity
    if (next > span.until) yield { span, from: span.until, to: next }
  }
}

// Generates months of rooms with everything that availability depends on, as plain facts and as rows of the database.
import { randomUUID } from 'node:crypto'
import type { WeeklyHours } from '../../../src/contract/weekly-hours.ts'
import { weekdays } from '../../../src/contract/weekly-hours.ts'
import { SeededChoices } from '../endurance/random.ts'
import { plainZones } from './plain-clock.ts'

const [secondMs, minuteMs, hourMs, dayMs] = [1000, 60_000, 3_600_000, 86_400_000]

export interface PlainSpan {
  readonly since: number
  /** Undefined while it lasts. */
  readonly until: number | undefined
  readonly why: 'LOST' | 'DISCONNECTED' | 'SERVER_ENDED' | 'REPLACED' | 'UNENROLLED'
  readonly unknownUntil: number | null
  readonly isRested: boolean
  readonly oversleptAt: number | null
  readonly gateway: string | null
  readonly source: string | null
}
export interface PlainStay {
  readonly room: number
  /** In Unix seconds, as they are stored. */
  readonly since: number
  readonly until: number | null
  readonly model: string
  readonly kind: string | undefined
  /** Whether an earlier version ended the stay, which did not store what the device was. */
  readonly isForgotten: boolean
}
export interface PlainDevice {
  readonly id: string
  readonly number: number
  readonly deletedAt: number | undefined
  readonly stays: readonly PlainStay[]
  readonly spans: readonly PlainSpan[]
}
export interface PlainSilence {
  readonly place: 'all' | 'region' | 'location' | 'room' | 'endpoint'
  readonly placeId: string
  readonly rules: readonly string[] | null
  readonly since: number
  readonly until: number | null
  readonly weekly: WeeklyHours | null
}
export interface PlainLocation {
  readonly id: number
  readonly region: number
  readonly zone: string
  readonly isDeleted: boolean
  /** Windows with the time until which each was in force. The last one is that of today. */
  readonly windows: readonly { readonly until: number; readonly hours: WeeklyHours | null }[]
}
export interface PlainRoom {
  readonly id: number
  readonly location: number
  readonly deletedAt: number | undefined
}
export interface PlainIncident {
  readonly rule: 'device.offline' | 'device.flapping' | 'sensor.silent'
  readonly level: 'ENDPOINT' | 'ROOM' | 'LOCATION'
  readonly causeId: string
  readonly acknowledgedAt: number | null
  readonly isMerged: boolean
  /** The room that is affected itself, in addition to the devices. */
  readonly ofRoom: number | undefined
  readonly severity: 'INFO' | 'WARNING' | 'CRITICAL'
  readonly openedAt: number
  readonly resolvedAt: number | null
  readonly reopenings: readonly number[]
  readonly subjects: readonly {
    readonly device: string
    readonly room: number
    readonly since: number
    readonly endedAt: number | null
  }[]
}
export interface PlainGateway {
  readonly id: string
  readonly deletedAt: number | undefined
}
export interface PlainSource {
  readonly id: string
  readonly gateway: string
  readonly deletedAt: number | undefined
  readonly absences: readonly { readonly since: number; readonly until: number | null }[]
}

export interface PastWorld {
  readonly monthStart: number
  readonly now: number
  readonly regions: readonly number[]
  readonly locations: readonly PlainLocation[]
  readonly rooms: readonly PlainRoom[]
  /** With the gateways. */
  readonly devices: readonly PlainDevice[]
  readonly gateways: readonly PlainGateway[]
  readonly sources: readonly PlainSource[]
  readonly silences: readonly PlainSilence[]
  readonly incidents: readonly PlainIncident[]
}

const settleMs = 10 * minuteMs

/** The month starts at a time in milliseconds; connections begin 40 days before. */
export function makeWorld(seed: number, monthStart: number, now: number, roomCount: number): PastWorld {
  const random = new SeededChoices(seed)
  const chance = (share: number) => random.below(1000) < share * 1000
  const before = monthStart - 40 * dayMs
  const timeIn = (from: number, to: number) => from + random.below(Math.max(1, to - from))
  const inMonth = () => timeIn(monthStart - 2 * dayMs, monthStart + 33 * dayMs)
  const past = () => Math.min(now - 1, inMonth())
  const text = (minutes: number) =>
    `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
  const weekly = (): WeeklyHours => ({
    days: weekdays
      .filter(() => chance(0.5))
      .concat(weekdays[random.below(7)] ?? 'mon')
      .filter((d, i, all) => all.indexOf(d) === i),
    // Clocks change at night, so many hours begin or end then.
    from: text(chance(0.5) ? random.below(240) : random.below(1440)),
    to: text(chance(0.5) ? random.below(240) : random.below(1440)),
  })

  const regions = [1, 2, 3]
  const locations = Array.from({ length: Math.ceil(roomCount / 2) }, (_, i): PlainLocation => {
    const ends = Array.from({ length: random.below(4) }, past).sort((a, b) => a - b)
    const isDeleted = chance(0.05)
    const hours = () => (chance(0.3) ? null : weekly())
    const windows = [...new Set(ends)].map((until) => ({ until, hours: hours() }))
    const zone = plainZones[(seed + i) % plainZones.length] as string
    const last = isDeleted ? [] : [{ until: Number.POSITIVE_INFINITY, hours: chance(0.5) ? weekly() : null }]
    return { id: i + 1, region: regions[i % 3] as number, zone, isDeleted, windows: [...windows, ...last] }
  })
  const rooms = Array.from({ length: roomCount }, (_, i): PlainRoom => {
    const location = locations[Math.floor(i / 2)] as PlainLocation
    const deletedAt = location.isDeleted || chance(0.1) ? past() : undefined
    return { id: i + 1, location: location.id, deletedAt }
  })

  let number = 0
  const gateways: PlainGateway[] = []
  const sources: PlainSource[] = []
  const devices: PlainDevice[] = []
  const lengthOfConnection = () => (chance(0.3) ? random.below(2 * hourMs) : random.below(6 * dayMs)) + 2 * secondMs
  const lengthOfGap = () => {
    const kind = random.below(6)
    if (kind === 0) return random.below(3 * secondMs)
    if (kind <= 2) return random.below(20 * minuteMs)
    if (kind <= 4) return random.below(5 * hourMs)
    return random.below(5 * dayMs)
  }
  /** The last span lasts, unless the device is away now. */
  const makeSpans = (end: number, isGone: boolean, sleeps: boolean, sourceOf: () => PlainSource | undefined) => {
    const spans: PlainSpan[] = []
    let at = timeIn(before, chance(0.2) ? monthStart + 20 * dayMs : before + 10 * dayMs)
    while (at < end) {
      const until = at + lengthOfConnection()
      const isLast = until >= end
      const why = random.below(5)
      const source = sourceOf()
      const [gateway, sourceId] = source ? [source.gateway, chance(0.7) ? source.id : null] : [null, null]
      const replaced = !isLast && why === 0
      const gap = replaced ? -random.below(2) * 500 : lengthOfGap()
      const isServerEnd = !isLast && why <= 2 && !replaced
      const settled = chance(0.2) ? null : until + (chance(0.2) ? random.below(3 * hourMs) : settleMs)
      const isRested = sleeps && chance(0.7)
      spans.push({
        since: at,
        until: isLast ? (isGone ? end : undefined) : until,
        why: isLast
          ? 'UNENROLLED'
          : replaced
            ? 'REPLACED'
            : isServerEnd
              ? 'SERVER_ENDED'
              : chance(0.5)
                ? 'LOST'
                : 'DISCONNECTED',
        unknownUntil: isServerEnd ? settled : null,
        isRested,
        oversleptAt: isRested && chance(0.2) ? until + random.below(hourMs * 4) : null,
        gateway,
        source: sourceId,
      })
      at = Math.max(until + gap, at + 1)
    }
    return spans
  }
  const newDevice = (
    stays: readonly { readonly room: number; readonly from: number; readonly to: number | undefined }[],
    deletedAt: number | undefined,
    sourceOf: () => PlainSource | undefined,
    given?: { readonly id: string; readonly kind: string },
  ): PlainDevice => {
    const isNeat = !given && chance(0.45)
    const model = isNeat ? (chance(0.7) ? 'NF19B1' : 'NF19A1') : 'AQ-2'
    const kinds = ['SENSOR', 'DISPLAY', 'COMPUTER', 'NETWORK', 'AUDIO', undefined]
    const kindNow = given?.kind ?? random.pick(kinds)
    const device: PlainDevice = {
      id: given?.id ?? randomUUID(),
      number: ++number,
      deletedAt,
      stays: stays.map(({ room, from, to }, i) => ({
        room,
        since: i === 0 && chance(0.5) ? 0 : Math.floor(from / secondMs),
        until: to === undefined ? null : Math.floor(to / secondMs),
        model,
        // The kind of a device at the end of a stay can differ from its kind today.
        kind: to !== undefined && chance(0.2) && !given ? random.pick(kinds) : kindNow,
        isForgotten: deletedAt !== undefined && !given && chance(0.3),
      })),
      spans: makeSpans(deletedAt ?? now, deletedAt !== undefined, chance(0.3), sourceOf),
    }
    devices.push(device)
    return device
  }

  for (let i = 0; i < 3; i++) {
    const id = randomUUID()
    const deletedAt = i === 0 ? past() : undefined
    newDevice([{ room: 1, from: before, to: deletedAt }], deletedAt, () => undefined, { id, kind: 'GATEWAY' })
    gateways.push({ id, deletedAt })
    for (let s = 0; s < 2; s++) {
      const sourceDeletedAt = deletedAt ?? (s === 0 ? past() : undefined)
      const end = sourceDeletedAt ?? now
      const absences: { since: number; until: number | null }[] = []
      for (let at = timeIn(before, monthStart); at < end; ) {
        const until = at + lengthOfGap() + 1
        absences.push({ since: at, until: until < end ? until : null })
        at = until + lengthOfConnection()
      }
      sources.push({ id: randomUUID(), gateway: id, deletedAt: sourceDeletedAt, absences })
    }
  }
  for (const room of rooms) {
    for (let i = 1 + random.below(3); i > 0; i--) {
      const roomEnd = (id: number) => rooms.find((one) => one.id === id)?.deletedAt ?? Number.POSITIVE_INFINITY
      const moves = chance(0.35) ? Array.from({ length: 1 + random.below(2) }, past).sort((a, b) => a - b) : []
      const stays: { room: number; from: number; to: number | undefined }[] = []
      let [from, at] = [before, room.id]
      let deletedAt = chance(0.15) ? past() : undefined
      for (const move of [...new Set(moves), undefined]) {
        const end = Math.min(move ?? Number.POSITIVE_INFINITY, deletedAt ?? Number.POSITIVE_INFINITY, roomEnd(at))
        if (end <= from) break
        stays.push({ room: at, from, to: Number.isFinite(end) ? end : undefined })
        // A device is deleted with its room.
        if (Number.isFinite(end) && end === roomEnd(at)) deletedAt = Math.min(deletedAt ?? end, end)
        if (end !== move) break
        from = chance(0.3) ? end + random.below(hourMs) : end
        if (from >= now) break
        at = chance(0.3) ? room.id : random.pick(rooms).id
        if (roomEnd(at) <= from) break
      }
      if (stays.length === 0) continue
      const ends = stays.map(({ to }) => Math.floor((to ?? Number.POSITIVE_INFINITY) / secondMs))
      if (new Set(stays.map((stay) => Math.floor(stay.from / secondMs))).size < stays.length || ends.some(Number.isNaN))
        continue
      const hasGateway = chance(0.4)
      const own = random.pick(sources)
      newDevice(stays, deletedAt, () => (hasGateway ? (chance(0.1) ? random.pick(sources) : own) : undefined))
    }
  }
  const silenceOf = (place: PlainSilence['place'], placeId: string): PlainSilence => {
    const since = past()
    const length = chance(0.5) ? random.below(4 * hourMs) : random.below(12 * dayMs)
    const isWeekly = chance(0.4)
    const until = isWeekly && chance(0.4) ? null : since + length + 1
    const rules = random.pick([null, null, ['device.offline'], ['air.beyond', 'device.offline'], ['air.beyond']])
    return { place, placeId, rules, since, until, weekly: isWeekly ? weekly() : null }
  }
  const silences = [
    ...(chance(0.5) ? [silenceOf('all', '')] : []),
    ...regions.flatMap((id) => (chance(0.4) ? [silenceOf('region', String(id))] : [])),
    ...locations.flatMap(({ id }) => (chance(0.4) ? [silenceOf('location', String(id))] : [])),
    ...rooms.flatMap(({ id }) => (chance(0.5) ? [silenceOf('room', String(id)), silenceOf('room', String(id))] : [])),
    ...devices.flatMap(({ id }) => (chance(0.4) ? [silenceOf('endpoint', id)] : [])),
  ]
  const incidents = rooms.flatMap((room): PlainIncident[] =>
    Array.from({ length: random.below(4) }, (): PlainIncident => {
      const openedAt = past()
      const resolvedAt = chance(0.7) ? openedAt + random.below(3 * dayMs) : null
      const last = resolvedAt ?? now
      const reopenings = chance(0.3) ? [timeIn(openedAt, last), timeIn(openedAt, last)].sort((a, b) => a - b) : []
      const own = devices.filter(({ stays }) => stays.some((stay) => stay.room === room.id))
      const subjects = own.flatMap(({ id }) => {
        if (chance(0.5)) return []
        const since = openedAt - 5 * minuteMs + random.below(chance(0.8) ? 5 * minuteMs : 5 * hourMs)
        const endedAt = chance(0.6) ? Math.max(since, openedAt) + random.below(dayMs) : null
        return [{ device: id, room: room.id, since, endedAt }]
      })
      const level = random.pick(['ENDPOINT', 'ENDPOINT', 'ROOM', 'LOCATION'] as const)
      // Few causes have several incidents.
      const cause = { ENDPOINT: own[0]?.id ?? 'gone', ROOM: String(room.id), LOCATION: String(room.location) }
      return {
        rule: random.pick(['device.offline', 'device.offline', 'device.flapping', 'sensor.silent']),
        ...{ level, causeId: cause[level], isMerged: resolvedAt !== null && chance(0.15) },
        acknowledgedAt: chance(0.5) ? openedAt + random.below(5 * hourMs) : null,
        ofRoom: chance(0.3) ? room.id : undefined,
        ...{ severity: random.pick(['INFO', 'WARNING', 'CRITICAL']), openedAt, resolvedAt, reopenings, subjects },
      }
    }),
  )
  return { monthStart, now, regions, locations, rooms, devices, gateways, sources, silences, incidents }
}

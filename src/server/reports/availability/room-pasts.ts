// Reads the past of rooms for their availability: devices, connections, gateways, silences, change windows and incidents. [contract 16.availability]
import { modelOf } from '../../../contract/device/models.ts'
import { dayMs, secondMs } from '../../../contract/durations.ts'
import type { RuleId } from '../../../contract/incidents/rule-table.ts'
import type { WeeklyHours } from '../../../contract/weekly-hours.ts'
import type { DevicePast, RoomPast } from '../../../insight/availability.ts'
import type { SecondsPeriod } from '../../../insight/periods.ts'
import { periodsWithin } from '../../core/time/weekly-hours.ts'
import type { OrgReader } from '../../db/handles.ts'
import { mergeOverlapping, type Period } from '../../fleet/connections/availability.ts'
import { type HistorySpan, unwrittenSpanOf } from '../../fleet/connections/history.ts'
import {
  type EndpointSpanRow,
  listHistoriesOfEndpoints,
  listLastSpansUntil,
  listSpansOfEndpoints,
} from '../../fleet/connections/store.ts'
import { listAbsencesOfSources } from '../../fleet/sources/absence-store.ts'
import type { PresenceTimes } from '../../nodes/presence-sql.ts'
import type { Turns } from '../turns.ts'
import { awayTimesOf, connectionPastOf, type PastTimes, secondOf, sourceAwayTimes } from './connection-past.ts'
import {
  listChangeWindows,
  listEndpointNumbers,
  listFormerWindows,
  listIncidentsOfRooms,
  listSilencesBetween,
  listStaysInRooms,
  listStaysOfIds,
  type PastSilenceRow,
  type RoomIncidentRow,
  type StayRow,
} from './past-store.ts'

/** The place of a room, of a deleted one its last. */
export interface PastRoom {
  readonly id: number
  readonly location: { readonly id: number } | undefined
  readonly region: { readonly id: number } | undefined
  readonly zone: string
}

export interface PastWindow {
  /** In Unix seconds. What lies before and after is read too, as far as a short gap can reach. */
  readonly from: number
  readonly to: number
  readonly ignoreUnderSeconds: number
}

export interface PastContext {
  readonly db: OrgReader
  readonly presenceTimes: PresenceTimes
  readonly rollupRetentionSeconds: number
}

const rule: RuleId = 'device.offline'
/** SQLite reads a page in one turn of the event loop, so pages are short. */
const [spansPerPage, incidentsPerPage] = [300, 200]

/** Rows of the past that ended earlier can be deleted. The time is the start of a day, so it does not differ in each answer. */
export const retainedFrom = (nowMs: number, retentionSeconds: number): number =>
  Math.ceil((nowMs - retentionSeconds * secondMs) / dayMs) * dayMs

/** The past of one report. What rooms share is read once. */
export class RoomPasts {
  readonly #db: OrgReader
  readonly #presenceTimes: PresenceTimes
  /** In milliseconds. */
  readonly #from: number
  /** Earlier connections can be deleted. */
  readonly #retainedFrom: number
  readonly #now: number
  readonly #times: PastTimes
  readonly #known: SecondsPeriod
  readonly #gateways = new Map<string, readonly Period[]>()
  readonly #sources = new Map<string, readonly Period[]>()
  /** By gateway and source. */
  readonly #hidden = new Map<string, readonly Period[]>()
  #silences: Silences | undefined
  readonly #windows = new Map<number, readonly FormerWindow[]>()

  constructor(
    { db, presenceTimes, rollupRetentionSeconds }: PastContext,
    { from, to, ignoreUnderSeconds }: PastWindow,
  ) {
    const { now, settleMs } = presenceTimes
    const retained = retainedFrom(now, rollupRetentionSeconds)
    this.#db = db
    this.#presenceTimes = presenceTimes
    this.#retainedFrom = retained
    this.#now = now
    this.#from = Math.max((from - ignoreUnderSeconds) * secondMs, retained)
    this.#times = { end: Math.min((to + ignoreUnderSeconds) * secondMs, now), settleMs }
    this.#known = [secondOf(this.#from), secondOf(this.#times.end)]
  }

  /** Whether periods can have begun before what is read, and can end after it. */
  cuts(first: SecondsPeriod | undefined, last: SecondsPeriod | undefined): [isCutBefore: boolean, isCutAfter: boolean] {
    const [from, to] = this.#known
    return [
      first !== undefined && first[0] === from && this.#from > this.#retainedFrom,
      last !== undefined && last[1] === to && this.#times.end < this.#now,
    ]
  }

  async read(rooms: readonly PastRoom[], turns: Turns): Promise<ReadonlyMap<number, RoomPast>> {
    const [from, to] = this.#known
    if (from >= to) return new Map()
    this.#silences ??= new Silences(await listSilencesBetween(this.#db, this.#between), this.#known)
    const silences = this.#silences
    const ids = rooms.map(({ id }) => id)
    const stays = await listStaysInRooms(this.#db, { rooms: ids, from, to })
    await turns.next()
    const spans = await this.#readSpans([...new Set(stays.map(({ endpoint }) => endpoint))], turns)
    await this.#readHidden(spans.values(), turns)
    await this.#readWindows(rooms)
    await turns.next()
    const impairments = await this.#readImpairments(ids, turns)
    const staysByRoom = Map.groupBy(stays, ({ room_id }) => room_id)
    const pasts = new Map<number, RoomPast>()
    for (const room of rooms) {
      await turns.next()
      const byDevice = Map.groupBy(staysByRoom.get(room.id) ?? [], deviceKeyOf)
      const devices: DevicePast[] = []
      for (const own of byDevice.values()) {
        devices.push(await this.#devicePast(own, spans.get(own[0]?.endpoint ?? 0) ?? [], silences, room.zone, turns))
      }
      pasts.set(room.id, {
        devices,
        silenced: silences.ofRoom(room),
        changeWindows: this.#changeWindows(room),
        impaired: impairments.get(room.id) ?? [],
        known: this.#known,
      })
    }
    return pasts
  }

  get #between() {
    return { from: this.#from, to: this.#times.end }
  }

  async #devicePast(
    stays: readonly StayRow[],
    spans: readonly HistorySpan[],
    silences: Silences,
    zone: string,
    turns: Turns,
  ): Promise<DevicePast> {
    const [{ endpoint_id, model, kind }] = stays as readonly [StayRow]
    const firstAt = spans[0] ? secondOf(spans[0].since) : Number.POSITIVE_INFINITY
    const end = this.#known[1]
    return {
      kind: (model === null ? undefined : modelOf(model).kind) ?? kind ?? 'OTHER',
      present: stays.map(({ since, until }) => [Math.max(since, firstAt), until ?? end]),
      ...(await connectionPastOf(spans, (gateway, source) => this.#hiddenBy(gateway, source), this.#times, turns)),
      silenced: silences.ofEndpoint(endpoint_id, zone),
    }
  }

  /** The times in which a device of a room was affected by an incident of WARNING or worse. */
  async #readImpairments(ids: readonly number[], turns: Turns): Promise<ReadonlyMap<number, readonly SecondsPeriod[]>> {
    const impairments = new Map<number, SecondsPeriod[]>(ids.map((id) => [id, []]))
    let rooms = [...ids].sort((a, b) => a - b)
    let after = { afterRoom: 0, afterIncident: 0, afterType: '', afterSubject: '' }
    for (;;) {
      const page = await listIncidentsOfRooms(this.#db, { rooms, ...after, limit: incidentsPerPage })
      for (const row of page) {
        const period = impairmentOf(row, this.#between)
        if (period && row.room_id !== null) impairments.get(row.room_id)?.push(period)
      }
      await turns.next()
      const last = page.at(-1)
      if (!last || page.length < incidentsPerPage) return impairments
      const { room_id: afterRoom, incident_id: afterIncident, subject_type: afterType, subject_id: afterSubject } = last
      after = { afterRoom: afterRoom ?? 0, afterIncident, afterType, afterSubject }
      rooms = rooms.slice(rooms.indexOf(after.afterRoom))
    }
  }

  /** Spans of endpoints, the oldest first. The first one may have ended before: it says what the time after it was. */
  async #readSpans(
    endpoints: readonly number[],
    turns: Turns,
    from = this.#from,
  ): Promise<ReadonlyMap<number, readonly HistorySpan[]>> {
    const spans = new Map<number, HistorySpan[]>()
    const add = (endpoint: number, span: HistorySpan) => {
      const own = spans.get(endpoint)
      if (own) own.push(span)
      else spans.set(endpoint, [span])
    }
    const { to } = this.#between
    const histories = await listHistoriesOfEndpoints(this.#db, { ...this.#presenceTimes, endpoints, from })
    await turns.next()
    const before = await listLastSpansUntil(this.#db, { endpoints: endpoints.map((number) => [number] as const), from })
    for (const row of before) add(row.endpoint, row)
    await turns.next()
    let rest = [...endpoints].sort((a, b) => a - b)
    for (let since = from; rest.length > 0; ) {
      // After a full page the last endpoint is read alone: a search finds its next span, without those of the pages before.
      const isAlone = since > from
      const page: EndpointSpanRow[] = await listSpansOfEndpoints(this.#db, {
        endpoints: isAlone ? rest.slice(0, 1) : rest,
        ...{ from: since, to, limit: spansPerPage },
      })
      for (const row of page) add(row.endpoint, row)
      await turns.next()
      const last = page.length === spansPerPage ? page.at(-1) : undefined
      if (!last && !isAlone) break
      rest = last ? rest.slice(rest.indexOf(last.endpoint)) : rest.slice(1)
      since = last ? last.since : from
    }
    for (const row of histories) {
      const unwritten = unwrittenSpanOf(row)
      if (!unwritten || unwritten.since >= to) {
        // The endpoint has been disconnected since before spans were written, or since those were deleted.
        if (row.first_since === null && row.changed_at !== null && !unwritten) add(row.number, endedAt(row.changed_at))
        continue
      }
      const last = spans.get(row.number)?.at(-1)
      // The connection can have ended, and its span been written, after the endpoint's row was read.
      if (!last || unwritten.since > last.since) add(row.number, unwritten)
    }
    return spans
  }

  /** Reads when the gateways and sources of devices were away. */
  async #readHidden(spansOfDevices: Iterable<readonly HistorySpan[]>, turns: Turns): Promise<void> {
    const [gateways, sources] = [new Set<string>(), new Set<string>()]
    for (const spans of spansOfDevices) {
      for (const { via, source_id } of spans) {
        if (via !== null && !this.#gateways.has(via)) gateways.add(via)
        if (source_id !== null && !this.#sources.has(source_id)) sources.add(source_id)
      }
      await turns.next()
    }
    if (gateways.size > 0) await this.#readGateways([...gateways], turns)
    if (sources.size === 0) return
    const from = this.#from - this.#times.settleMs
    const absences = await listAbsencesOfSources(this.#db, { sources: [...sources], from })
    const bySource = Map.groupBy(absences, ({ source_id }) => source_id)
    for (const id of sources) this.#sources.set(id, sourceAwayTimes(bySource.get(id) ?? [], this.#times))
  }

  async #readGateways(ids: readonly string[], turns: Turns): Promise<void> {
    const numbers = new Map((await listEndpointNumbers(this.#db, { ids })).map(({ id, number }) => [id, number]))
    const gone = ids.filter((id) => !numbers.has(id))
    const deletedAt = new Map<string, number>()
    for (const { endpoint_id, endpoint, until } of gone.length > 0
      ? await listStaysOfIds(this.#db, { ids: gone })
      : []) {
      numbers.set(endpoint_id, endpoint)
      if (until !== null) deletedAt.set(endpoint_id, (until + 1) * secondMs - 1)
    }
    // The devices of a gateway that returned shortly before have time to come back.
    const spans = await this.#readSpans([...numbers.values()], turns, this.#from - this.#times.settleMs)
    for (const id of ids) {
      const own = spans.get(numbers.get(id) ?? Number.NaN) ?? []
      this.#gateways.set(id, awayTimesOf(own, deletedAt.get(id), this.#times))
    }
  }

  #hiddenBy(gateway: string, source: string | null): readonly Period[] {
    const key = `${gateway} ${source ?? ''}`
    const known = this.#hidden.get(key)
    if (known) return known
    const periods = [
      ...(this.#gateways.get(gateway) ?? []),
      ...(source === null ? [] : (this.#sources.get(source) ?? [])),
    ]
    const merged = mergeOverlapping(periods.sort(([a], [b]) => a - b))
    this.#hidden.set(key, merged)
    return merged
  }

  async #readWindows(rooms: readonly PastRoom[]): Promise<void> {
    const ids = rooms.flatMap(({ location }) => (location && !this.#windows.has(location.id) ? [location.id] : []))
    const locations = [...new Set(ids)]
    if (locations.length === 0) return
    const former = await listFormerWindows(this.#db, { locations, from: this.#from })
    const byLocation = Map.groupBy(former, ({ location_id }) => location_id)
    const present = new Map(
      (await listChangeWindows(this.#db, { locations })).map((row) => [row.id, row.change_window]),
    )
    for (const id of locations) {
      const windows = (byLocation.get(id) ?? []).map(({ until, change_window }) => ({ until, text: change_window }))
      this.#windows.set(id, [...windows, { until: Number.POSITIVE_INFINITY, text: present.get(id) ?? null }])
    }
  }

  /** A location without a window may be changed at any time, which excuses nothing. */
  #changeWindows({ location, zone }: PastRoom): SecondsPeriod[] {
    const periods: SecondsPeriod[] = []
    let since = this.#known[0]
    for (const { until, text } of (location && this.#windows.get(location.id)) ?? []) {
      const end = Math.min(secondOf(until), this.#known[1])
      if (text !== null && since < end) periods.push(...periodsWithin(JSON.parse(text), zone, since, end))
      since = Math.max(since, end)
    }
    return periods
  }
}

interface FormerWindow {
  /** In milliseconds. */
  readonly until: number
  /** JSON; null if the location had none. */
  readonly text: string | null
}

/** A device can change its model or its kind while it is away from the room. */
const deviceKeyOf = ({ endpoint, model, kind }: StayRow): string => `${endpoint} ${model} ${kind}`

/** Stands for a connection of which only the end is known. */
const endedAt = (at: number): HistorySpan => ({
  since: at,
  until: at + 1,
  why: 'LOST',
  unknown_until: null,
  followed_by: null,
  rested: 0,
  overslept_at: null,
  via: null,
  source_id: null,
})

/**
 * From the opening of the incident, or its reopening for this device, until the device or the whole incident was well again. Undefined if the
 * incident was of another time, or does not impair.
 */
function impairmentOf(
  { subject_type, severity, since, ended_at, opened_at, resolved_at, reopenings }: RoomIncidentRow,
  { from, to: end }: { readonly from: number; readonly to: number },
): SecondsPeriod | undefined {
  if (subject_type !== 'endpoint' || severity === 'INFO' || opened_at >= end) return undefined
  const until = Math.min(ended_at ?? Number.POSITIVE_INFINITY, resolved_at ?? Number.POSITIVE_INFINITY)
  if (until <= from) return undefined
  // Few incidents reopen.
  const times: readonly number[] = reopenings === '[]' ? [] : JSON.parse(reopenings)
  const reopened = times.find((at) => at >= since && at < until)
  return [secondOf(reopened ?? Math.max(since, opened_at)), secondOf(Math.min(until, end))]
}

/** When silences of `device.offline` were in force, by place. */
class Silences {
  readonly #byPlace: ReadonlyMap<string, readonly PastSilenceRow[]>
  readonly #window: SecondsPeriod
  readonly #periods = new Map<string, readonly SecondsPeriod[]>()

  constructor(rows: readonly PastSilenceRow[], window: SecondsPeriod) {
    const covering = rows.filter(({ rules }) => rules === null || (JSON.parse(rules) as RuleId[]).includes(rule))
    this.#byPlace = Map.groupBy(covering, ({ place_type, place_id }) => placeKey(place_type, place_id))
    this.#window = window
  }

  ofRoom({ id, location, region, zone }: PastRoom): SecondsPeriod[] {
    return [
      ...this.#in(placeKey('all', ''), zone),
      ...(region ? this.#in(placeKey('region', region.id), zone) : []),
      ...(location ? this.#in(placeKey('location', location.id), zone) : []),
      ...this.#in(placeKey('room', id), zone),
    ]
  }

  ofEndpoint(id: string, zone: string): readonly SecondsPeriod[] {
    return this.#in(placeKey('endpoint', id), zone)
  }

  /** Weekly hours are by the clocks of the location. */
  #in(place: string, zone: string): readonly SecondsPeriod[] {
    const rows = this.#byPlace.get(place)
    if (!rows) return []
    const key = `${place} ${zone}`
    const known = this.#periods.get(key)
    if (known) return known
    const periods = rows.flatMap((row) => this.#periodsOf(row, zone))
    this.#periods.set(key, periods)
    return periods
  }

  #periodsOf({ since, until, weekly }: PastSilenceRow, zone: string): readonly SecondsPeriod[] {
    const [first, last] = this.#window
    const from = Math.max(first, secondOf(since))
    const to = until === null ? last : Math.min(last, secondOf(until))
    if (from >= to) return []
    return weekly === null ? [[from, to]] : periodsWithin(JSON.parse(weekly) as WeeklyHours, zone, from, to)
  }
}

const placeKey = (type: PastSilenceRow['place_type'], id: string | number): string =>
  type === 'all' ? 'all' : `${type} ${id}`

// What a caller asks of a history: checked, and cut to what is kept. [contract 6.sensorHistory]

import type { Violation } from '../../../../contract/error.ts'
import { type Sensor, sensors } from '../../../../contract/models.ts'
import type { Interval } from '../../../../contract/sensor-history.ts'
import type { SensorSettings } from '../../../config/sensor-settings.ts'
import { invalid } from '../../../core/failure.ts'
import { pageSizeOf } from '../../../core/page-token.ts'
import { dateOf, isSameTimeZone, startOfDay, timeZoneProblem } from '../../../core/time-zone.ts'
import type { SensorColumn } from '../../../db/schema.ts'
import type { InputOf } from '../../../http/handlers.ts'
import { columnOf } from '../scale.ts'
import { daysIn, firstFrom, hours, quarters, type SlotScale, slots } from '../slots.ts'

export type HistoryQuery = InputOf<'endpointsSensorHistory'>['query']

/** What can be said without looking anything up. */
export interface HistoryRequest {
  readonly interval: Interval
  readonly fields: readonly HistoryField[]
  /** Undefined: that of the organisation. */
  readonly zone: string | undefined
  readonly pageSize: number
  /** Milliseconds, or a date. */
  readonly from: number | string
  /** Undefined: now. */
  readonly to: number | string | undefined
}

export interface HistoryField {
  readonly name: Sensor
  readonly column: SensorColumn
}
const allFields: readonly HistoryField[] = sensors.map((name) => ({ name, column: columnOf[name] }))

const defaultPage = 1000
const largestPage = 3000

export function historyRequestOf({
  from,
  to,
  interval = '15m',
  fields,
  timezone,
  pageSize,
}: HistoryQuery): HistoryRequest {
  const violations: Violation[] = []
  const refuse = (field: string, error: string) => void violations.push({ field, error })
  const names = fields?.split(',').map((name) => name.trim())
  const unknown = names?.filter((name) => !(sensors as string[]).includes(name)) ?? []
  if (unknown.length > 0) refuse('fields', `must be names from ${sensors.join(', ')}, separated by commas`)
  // A plus that was not escaped came as a space.
  const zone = timezone?.replace(/^ (?=\d)/, '+')
  const problem = zone === undefined ? undefined : timeZoneProblem(zone)
  if (problem !== undefined) refuse('timezone', problem)
  if (violations.length > 0) throw invalid(violations)
  return {
    interval,
    fields: names ? allFields.filter(({ name }) => names.includes(name)) : allFields,
    zone,
    pageSize: pageSizeOf(pageSize, defaultPage, largestPage),
    from,
    to,
  }
}

/** The zone of the organisation, and the one that its table of days is in. */
export interface HistoryTimeZones {
  readonly own: string
  readonly days: string | null
  readonly quarters_from: number | null
}

export interface HistoryWindow {
  readonly zone: string
  readonly buckets: SlotScale
  /** The first bucket, and the one after the last. */
  readonly first: number
  readonly end: number
  /** Unix seconds: for samples, which are not cut at buckets. */
  readonly from: number
  readonly to: number
  /** The days are there, ready made: in this zone, by whatever name. */
  readonly dayZone: string | undefined
}

/** A bucket is whole: what overlaps the window is in, unless a part of it is older than what is kept. [contract D.36] */
export function windowOf(
  asked: HistoryRequest,
  zones: HistoryTimeZones,
  settings: SensorSettings,
  nowMs: number,
): HistoryWindow {
  const zone = asked.zone ?? zones.own
  const now = Math.floor(nowMs / 1000)
  const dayZone = asked.interval === '1d' && zones.days && isSameTimeZone(zones.days, zone) ? zones.days : undefined
  const buckets = bucketsOf(asked.interval, zone)
  const kept = now - keptFor(asked.interval, dayZone !== undefined, settings)
  // They may have been kept for a shorter time before: a day that is made of them must be whole.
  const oldest = asked.interval === '1d' && !dayZone ? Math.max(kept, zones.quarters_from ?? 0) : kept
  const [asksFrom, asksTo] = [
    secondsOf(asked.from, zone),
    asked.to === undefined ? undefined : secondsOf(asked.to, zone),
  ]
  if (asksTo !== undefined && asksFrom > asksTo) throw invalid([{ field: 'from', error: 'must not be after to' }])
  const to = Math.ceil(asksTo ?? Math.max(nowMs / 1000, asksFrom))
  const wanted = Math.max(0, asksFrom)
  const earliest = Number.isFinite(oldest) ? firstWithin(asked.interval, buckets, oldest) : buckets.at(0)
  if (asked.interval === '1d' && dayZone === undefined && settings.daysKept > settings.quartersKept) {
    checkReach(wanted, zone, zones, buckets, earliest)
  }
  const first = Math.max(buckets.at(wanted), earliest)
  const end = wanted < to ? buckets.at(to - 1) + 1 : first
  return { zone, buckets, first, end, from: Math.max(Math.ceil(wanted), oldest), to, dayZone }
}

/** A date is the beginning of that day in the zone. [contract D.36] */
const secondsOf = (asked: number | string, zone: string): number =>
  typeof asked === 'number' ? asked / 1000 : startOfDay(zone, Date.parse(asked) / 86_400_000)

function bucketsOf(interval: Interval, zone: string): SlotScale {
  if (interval === '1d') return daysIn(zone)
  return { raw: slots, '5m': slots, '15m': quarters, '1h': hours }[interval]
}

/** Samples are not cut at buckets: the first of those may be old in part. */
const firstWithin = (interval: Interval, buckets: SlotScale, oldest: number): number =>
  interval === 'raw' ? buckets.at(oldest) : firstFrom(buckets, oldest)

function keptFor(interval: Interval, hasDays: boolean, settings: SensorSettings): number {
  if (interval === 'raw' || interval === '5m') return settings.samplesKept
  return hasDays ? settings.daysKept : settings.quartersKept
}

/** Beyond what days can be made of there are only the days of the organisation's own zone. [contract D.38] */
function checkReach(
  wanted: number,
  zone: string,
  { own }: HistoryTimeZones,
  buckets: SlotScale,
  earliest: number,
): void {
  if (isSameTimeZone(zone, own) || wanted >= buckets.start(earliest)) return
  const day = dateOf(earliest)
  throw invalid([
    {
      field: 'from',
      error: `must not be before ${day} in the time zone ${zone}: older days are kept only in that of the organisation, ${own}. Ask from ${day} on, or for timezone ${own}`,
    },
  ])
}

// Checks the query of a history request, and limits its window to the retention. [contract 6.sensorHistory]

import { type Sensor, sensors } from '../../../contract/device/models.ts'
import { dayMs } from '../../../contract/durations.ts'
import type { Violation } from '../../../contract/error.ts'
import type { Interval } from '../../../contract/sensors/sensor-history.ts'
import type { SensorSettings } from '../../config/sensor-settings.ts'
import type { InputOf } from '../../context/handlers.ts'
import { invalid, refuseReversed } from '../../core/failure.ts'
import { pageSizeOf } from '../../core/page-token.ts'
import { daysIn, firstFrom, hours, quarters, type SlotScale, slots } from '../../core/time/slots.ts'
import { dateOf, isSameTimeZone, startOfDay, timeZoneProblem } from '../../core/time/time-zone.ts'
import type { SensorColumn } from '../../db/schema/schema.ts'
import { columnOf } from '../scale.ts'

export type HistoryQuery = InputOf<'endpointsSensorHistory'>['query']

/** The query, checked as far as that needs no database. */
export interface HistoryRequest {
  readonly interval: Interval
  readonly fields: readonly HistoryField[]
  /** Undefined means the time zone of the organisation. */
  readonly zone: string | undefined
  readonly pageSize: number
  /** Milliseconds, or a date. */
  readonly from: number | string
  /** Undefined means now. */
  readonly to: number | string | undefined
}

export interface HistoryField {
  readonly name: Sensor
  readonly column: SensorColumn
}
const allFields: readonly HistoryField[] = sensors.map((name) => ({ name, column: columnOf[name] }))

const defaultPageRows = 1000
const maxPageSize = 3000

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
  // A plus sign that was not escaped in the URL arrives as a space.
  const zone = timezone?.replace(/^ (?=\d)/, '+')
  const problem = zone === undefined ? undefined : timeZoneProblem(zone)
  if (problem !== undefined) refuse('timezone', problem)
  if (violations.length > 0) throw invalid(violations)
  return {
    interval,
    fields: names ? allFields.filter(({ name }) => names.includes(name)) : allFields,
    zone,
    pageSize: pageSizeOf(pageSize, defaultPageRows, maxPageSize),
    from,
    to,
  }
}

/** The time zone of the organisation, and that of its table of days. */
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
  /** How long the requested window is. */
  readonly seconds: number
  /** Unix seconds, for raw samples, which are not cut at buckets. */
  readonly from: number
  readonly to: number
  /** The time zone of the stored days if they can be used; it may have another name than `zone`. */
  readonly dayZone: string | undefined
}

/** A bucket that overlaps the window is included, unless a part of it is older than the retention. [contract D.36] */
export function windowOf(
  request: HistoryRequest,
  zones: HistoryTimeZones,
  settings: SensorSettings,
  nowMs: number,
): HistoryWindow {
  const zone = request.zone ?? zones.own
  const now = Math.floor(nowMs / 1000)
  const dayZone = request.interval === '1d' && zones.days && isSameTimeZone(zones.days, zone) ? zones.days : undefined
  const buckets = bucketsOf(request.interval, zone)
  const retained = now - retentionSeconds(request.interval, dayZone !== undefined, settings)
  // The retention of quarters may have been shorter before, and a day that is made of quarters must be complete.
  const oldest = request.interval === '1d' && !dayZone ? Math.max(retained, zones.quarters_from ?? 0) : retained
  const [requestedFrom, requestedTo] = [
    secondsOf(request.from, zone),
    request.to === undefined ? undefined : secondsOf(request.to, zone),
  ]
  refuseReversed({ from: requestedFrom, to: requestedTo })
  const to = Math.ceil(requestedTo ?? Math.max(nowMs / 1000, requestedFrom))
  const start = Math.max(0, requestedFrom)
  const earliest = Number.isFinite(oldest) ? firstWithin(request.interval, buckets, oldest) : buckets.at(0)
  if (
    request.interval === '1d' &&
    dayZone === undefined &&
    settings.dailyRetentionSeconds > settings.rollupRetentionSeconds
  ) {
    checkReach(start, zone, zones, buckets, earliest)
  }
  const first = Math.max(buckets.at(start), earliest)
  const end = start < to ? buckets.at(to - 1) + 1 : first
  return { zone, buckets, first, end, seconds: to - start, from: Math.max(Math.ceil(start), oldest), to, dayZone }
}

/** A date is the beginning of that day in the zone. [contract D.36] */
const secondsOf = (request: number | string, zone: string): number =>
  typeof request === 'number' ? request / 1000 : startOfDay(zone, Date.parse(request) / dayMs)

function bucketsOf(interval: Interval, zone: string): SlotScale {
  if (interval === '1d') return daysIn(zone)
  return { raw: slots, '5m': slots, '15m': quarters, '1h': hours }[interval]
}

/** Raw samples are not cut at buckets: the first bucket may be partly older than the retention. */
const firstWithin = (interval: Interval, buckets: SlotScale, oldest: number): number =>
  interval === 'raw' ? buckets.at(oldest) : firstFrom(buckets, oldest)

function retentionSeconds(interval: Interval, hasDays: boolean, settings: SensorSettings): number {
  if (interval === 'raw' || interval === '5m') return settings.sampleRetentionSeconds
  return hasDays ? settings.dailyRetentionSeconds : settings.rollupRetentionSeconds
}

/** Before the oldest quarters there are only days in the organisation's own time zone. [contract D.38] */
function checkReach(
  start: number,
  zone: string,
  { own }: HistoryTimeZones,
  buckets: SlotScale,
  earliest: number,
): void {
  if (isSameTimeZone(zone, own) || start >= buckets.start(earliest)) return
  const day = dateOf(earliest)
  throw invalid([
    {
      field: 'from',
      error: `must not be before ${day} in the time zone ${zone}: older days are kept only in that of the organisation, ${own}. Ask from ${day} on, or for timezone ${own}`,
    },
  ])
}

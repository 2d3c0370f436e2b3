// Says from the connection spans of a device when it was connected, and which reasons hold for the times in between. [contract 16.availability]
import { secondMs } from '../../../contract/durations.ts'
import type { DevicePast } from '../../../insight/availability.ts'
import type { SecondsPeriod } from '../../../insight/periods.ts'
import { hiddenBeforeEndMs, type Period } from '../../fleet/connections/availability.ts'
import type { HistorySpan } from '../../fleet/connections/history.ts'
import type { Turns } from '../turns.ts'

/** Whole seconds: each time is rounded down. */
const inSeconds = ([from, to]: Period): SecondsPeriod => [secondOf(from), secondOf(to)]
export const secondOf = (ms: number): number => Math.floor(ms / secondMs)

export interface PastTimes {
  /** The end of what is read, at the latest the present. In milliseconds, as all times of spans. */
  readonly end: number
  readonly settleMs: number
}

type ConnectionPast = Pick<DevicePast, 'connected' | 'service' | 'unknown' | 'asleep'>

/** Spans that are read in one step. */
const spansPerStep = 500

/**
 * The spans are in the order of their starts. `hiddenBy` returns the times in which nothing is known about the devices of a gateway and a
 * source; each list is in order and without overlaps.
 */
export async function connectionPastOf(
  spans: readonly HistorySpan[],
  hiddenBy: (gateway: string, source: string | null) => readonly Period[],
  { end, settleMs }: PastTimes,
  turns: Turns,
): Promise<ConnectionPast> {
  const connected: SecondsPeriod[] = []
  const [service, unknown, asleep] = [[] as SecondsPeriod[], [] as SecondsPeriod[], [] as SecondsPeriod[]]
  const addGap = ({ why, unknown_until, rested, overslept_at, via, source_id }: HistorySpan, gap: Period) => {
    const [from, to] = gap
    // A span of an earlier version does not say how long the device had to come back.
    const serviceEnd = unknown_until ?? (why === 'SERVER_ENDED' ? from + settleMs : from)
    const knownFrom = Math.max(from, Math.min(to, serviceEnd))
    if (knownFrom > from) service.push(inSeconds([from, knownFrom]))
    const hidden = via === null ? [] : partsWithin(gap, hiddenBy(via, source_id))
    for (const period of hidden) unknown.push(inSeconds(period))
    if (rested !== 1) return
    const sleep: Period = [knownFrom, Math.min(to, Math.max(knownFrom, overslept_at ?? to))]
    for (const period of without(sleep, hidden)) asleep.push(inSeconds(period))
  }
  let last: { readonly span: HistorySpan; readonly until: number } | undefined
  for (const [i, span] of spans.entries()) {
    if (i % spansPerStep === 0) await turns.next()
    const until = Math.min(span.until ?? end, end)
    if (until <= span.since || (last && until <= last.until)) continue
    if (last && span.since > last.until) addGap(last.span, [last.until, span.since])
    connected.push(inSeconds([span.since, until]))
    last = { span, until }
  }
  if (last && last.until < end) addGap(last.span, [last.until, end])
  return { connected, service, unknown, asleep }
}

/** The parts of a list, which is in order and without overlaps, in a period. The list can be long, and is searched for each gap of a device. */
function partsWithin([from, to]: Period, periods: readonly Period[]): Period[] {
  let [low, high] = [0, periods.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((periods[middle] as Period)[1] <= from) low = middle + 1
    else high = middle
  }
  const parts: Period[] = []
  for (; low < periods.length; low++) {
    const [start, end] = periods[low] as Period
    if (start >= to) break
    parts.push([Math.max(start, from), Math.min(end, to)])
  }
  return parts
}

/** Cuts periods, which are in order, out of a period. */
function* without([from, to]: Period, others: readonly Period[]): Iterable<Period> {
  let at = from
  for (const [start, end] of partsWithin([from, to], others)) {
    if (start > at) yield [at, start]
    at = end
  }
  if (at < to) yield [at, to]
}

/**
 * The times in which nothing is known about the devices of a gateway that are not connected: from shortly before it left until they had time
 * to come back. A gateway that was deleted has no devices any longer.
 */
export function awayTimesOf(
  spans: readonly Pick<HistorySpan, 'since' | 'until'>[],
  deletedAt: number | undefined,
  { end, settleMs }: PastTimes,
): Period[] {
  const last = Math.min(deletedAt ?? end, end)
  const periods: Period[] = []
  let awaySince: number | undefined
  for (const { since, until } of spans) {
    if (awaySince !== undefined && since > awaySince) {
      periods.push([awaySince - hiddenBeforeEndMs, Math.min(since + settleMs, last)])
    }
    awaySince = until
  }
  if (awaySince !== undefined && awaySince < last) periods.push([awaySince - hiddenBeforeEndMs, last])
  return periods
}

interface SourceAbsence {
  readonly since: number
  readonly until: number | null
  readonly deleted_at: number | null
}

/** Does the same for the absences of a source. */
export const sourceAwayTimes = (absences: readonly SourceAbsence[], { end, settleMs }: PastTimes): Period[] =>
  absences.map(({ since, until, deleted_at }) => [
    since - hiddenBeforeEndMs,
    Math.min(until === null ? end : until + settleMs, deleted_at ?? end, end),
  ])

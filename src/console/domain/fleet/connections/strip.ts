// Turns the connection spans of a device into the parts of a strip: online, offline, restarting, asleep, not known or no record. They leave no gaps. [contract 10.connections]
import { dayMs, hourMs } from '../../../../contract/durations.ts'
import { restartGraceMs } from '../../../../contract/fleet/commands.ts'
import type { ResponseOf } from '../../../../contract/operation.ts'
import type { Operations } from '../../../../contract/operations.ts'
import { plural } from '../../../parts/text/words.ts'
import type { RestartWindow } from '../device/restarts.ts'

type Connections = ResponseOf<Operations['roomsConnections']>
export type ConnectionSummary = Connections['endpoints'][number]
export type ShownSpan = Connections['spans'][number]
export type ShownGap = Connections['gaps'][number]

export interface StripPart {
  readonly state: 'online' | 'offline' | 'no record' | 'restarting' | 'asleep' | 'not known'
  readonly fromMs: number
  readonly toMs: number
  /** The reason why the connection before an offline part ended. */
  readonly why?: ShownSpan['why']
}

export interface StripWindow {
  readonly fromMs: number
  readonly toMs: number
  /** The device is being restarted, so it is away on purpose. */
  readonly isRestarting?: boolean
  /** The restarts of the device that people asked for. */
  readonly restarts?: readonly RestartWindow[]
  readonly gaps?: readonly ShownGap[]
}

/** A take-over or a short reconnect has no time between its spans, and joins them. */
const joinMs = 1000

/** If spans were left out, the known time starts at the first one that is there: nothing says when the device was online before. */
const knownFromOf = (spans: readonly ShownSpan[], summary: KnownTime | undefined): string | undefined =>
  summary?.omittedSpans ? spans[0]?.from : summary?.knownFrom

type KnownTime = Pick<ConnectionSummary, 'knownFrom' | 'omittedSpans'>

/** `spans` and `gaps` belong to one device, the oldest first. Gaps are the times that do not count as offline. */
export function stripParts(
  spans: readonly ShownSpan[],
  summary: KnownTime | undefined,
  { fromMs, toMs, isRestarting = false, restarts = [], gaps = [] }: StripWindow,
): StripPart[] {
  const knownFrom = knownFromOf(spans, summary)
  const knownMs = knownFrom === undefined ? toMs : Math.min(Math.max(Date.parse(knownFrom), fromMs), toMs)
  const parts: StripPart[] = knownMs > fromMs ? [{ state: 'no record', fromMs, toMs: knownMs }] : []
  let endMs = knownMs
  let why: ShownSpan['why']
  const addAway = (untilMs: number, isStillRestarting = false) => {
    // Without a connection before it, the time of the disconnect is not known.
    const isRestart = why !== undefined && restarts.some((restart) => endMs >= restart.fromMs && endMs <= restart.toMs)
    const graceMs = isRestart ? restartGraceMs : 0
    const restartedMs = isStillRestarting ? untilMs : Math.min(endMs + graceMs, untilMs)
    if (restartedMs > endMs) parts.push({ state: 'restarting', fromMs: endMs, toMs: restartedMs })
    let atMs = restartedMs
    const addOffline = (toMs: number) => {
      if (toMs > atMs) parts.push({ state: 'offline', fromMs: atMs, toMs, ...(why && { why }) })
    }
    for (const gap of gaps) {
      const gapFromMs = Math.max(Date.parse(gap.from), atMs)
      const gapToMs = Math.min(Date.parse(gap.to), untilMs)
      if (gapToMs <= gapFromMs) continue
      addOffline(gapFromMs)
      const state = gap.state === 'ASLEEP' ? 'asleep' : 'not known'
      parts.push({ state, fromMs: gapFromMs, toMs: gapToMs, ...(why && { why }) })
      atMs = gapToMs
    }
    addOffline(untilMs)
  }
  for (const span of spans) {
    const from = Math.max(Date.parse(span.from), knownMs)
    const to = Math.min(span.to === undefined ? toMs : Date.parse(span.to), toMs)
    if (to <= endMs && parts.length > 0) continue
    const last = parts.at(-1)
    if (from - endMs > joinMs) addAway(from)
    if (last?.state === 'online' && from - endMs <= joinMs) parts[parts.length - 1] = { ...last, toMs: to }
    else parts.push({ state: 'online', fromMs: Math.max(from, endMs), toMs: to })
    endMs = to
    why = span.why
  }
  addAway(toMs, isRestarting)
  return parts
}

interface SummaryTexts {
  readonly durationText: (ms: number) => string
  /** The time at which the records begin, in words. */
  readonly timeText: (ms: number) => string
}

/** A percentage of a shorter record says more about the enrolment of the device than about its connection. */
const minPercentMs = dayMs

/**
 * "99.2 % online, 3 outages, longest 41 min", with ", 1 restart" if people asked for one; "99.2 % online since 14 Nov, 09:12" if the
 * records begin inside the window, and "Known since 14:05" if they began less than a day ago.
 */
export function summaryText(
  summary: ConnectionSummary | undefined,
  { durationText, timeText }: SummaryTexts,
  { fromMs, toMs }: Pick<StripWindow, 'fromMs' | 'toMs'>,
  parts: readonly StripPart[] = [],
): string {
  if (summary?.onlineShare === undefined) return 'No data yet'
  const { onlineShare, omittedSpans } = summary
  const { outages, longestOutageMs, restarts } = withoutRestarts(summary, parts)
  // 99.97 % must not look like a week without an outage.
  const percent = summary.outages > 0 ? Math.min(onlineShare * 100, 99.9) : onlineShare * 100
  const knownFromMs = summary.knownFrom === undefined ? fromMs : Date.parse(summary.knownFrom)
  const since = knownFromMs > fromMs ? ` since ${timeText(knownFromMs)}` : ''
  return [
    toMs - knownFromMs < minPercentMs
      ? `Known${since}`
      : `${percent.toLocaleString('en-GB', { maximumFractionDigits: 1 })} % online${since}`,
    outages === 0 ? ', no outages' : `, ${plural(outages, 'outage')}, longest ${durationText(longestOutageMs)}`,
    restarts > 0 ? `, ${plural(restarts, 'restart')}` : '',
    omittedSpans ? '; older connections are not shown' : '',
  ].join('')
}

/** The API counts the time of a restart as an outage; here it is counted as a restart. */
function withoutRestarts(
  { outages, longestOutageSeconds, omittedSpans }: ConnectionSummary,
  parts: readonly StripPart[],
): { readonly outages: number; readonly longestOutageMs: number; readonly restarts: number } {
  const longestOutageMs = longestOutageSeconds * 1000
  if (!parts.some(({ state }) => state === 'restarting')) return { outages, longestOutageMs, restarts: 0 }
  // A restart after which the device stayed away is followed by an outage.
  const restarts = parts.filter(({ state }, at) => state === 'restarting' && parts[at + 1]?.state !== 'offline').length
  const lengths = parts.filter(({ state }) => state === 'offline').map(({ fromMs, toMs }) => toMs - fromMs)
  return {
    outages: Math.max(outages - restarts, lengths.length),
    longestOutageMs: omittedSpans ? longestOutageMs : Math.max(0, ...lengths),
    restarts,
  }
}

/** A strip that begins long before the first record would be grey: it begins with the record, and has an hour at least. */
export const minStripMs = hourMs

/** The part of the window that the strips show: from the first record of a device on. */
export function stripStartMs(
  summaries: readonly ConnectionSummary[],
  { fromMs, toMs }: Pick<StripWindow, 'fromMs' | 'toMs'>,
): number {
  const known = summaries.flatMap(({ knownFrom }) => (knownFrom === undefined ? [] : [Date.parse(knownFrom)]))
  if (known.length === 0) return fromMs
  return Math.max(fromMs, Math.min(...known, toMs - minStripMs))
}

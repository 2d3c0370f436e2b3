// Turns the connection spans of a device into the parts of a strip: online, offline or unknown, without gaps. [contract 10.connections]
import type { ResponseOf } from '../../../../contract/operation.ts'
import type { Operations } from '../../../../contract/operations.ts'

type Connections = ResponseOf<Operations['roomsConnections']>
export type ConnectionSummary = Connections['endpoints'][number]
export type ConnectionSpan = Connections['spans'][number]

export interface StripPart {
  readonly state: 'online' | 'offline' | 'unknown' | 'restarting'
  readonly fromMs: number
  readonly toMs: number
  /** Why the connection before an offline part ended. */
  readonly why?: ConnectionSpan['why']
}

interface Window {
  readonly fromMs: number
  readonly toMs: number
  /** The device is being restarted, so it is away on purpose. */
  readonly isRestarting?: boolean
}

/** A take-over or a short reconnect has no time between its spans, and joins them. */
const joinMs = 1000

/** The known time begins after the spans that were left out, because nothing says when the device was online before. */
const knownFromOf = (spans: readonly ConnectionSpan[], summary: KnownTime | undefined): string | undefined =>
  summary?.omittedSpans ? spans[0]?.from : summary?.knownFrom

type KnownTime = Pick<ConnectionSummary, 'knownFrom' | 'omittedSpans'>

/** `spans` are those of one device, oldest first. */
export function stripParts(
  spans: readonly ConnectionSpan[],
  summary: KnownTime | undefined,
  { fromMs, toMs, isRestarting = false }: Window,
): StripPart[] {
  const knownFrom = knownFromOf(spans, summary)
  const knownMs = knownFrom === undefined ? toMs : Math.min(Math.max(Date.parse(knownFrom), fromMs), toMs)
  const parts: StripPart[] = knownMs > fromMs ? [{ state: 'unknown', fromMs, toMs: knownMs }] : []
  let endMs = knownMs
  let why: ConnectionSpan['why']
  const addOffline = (untilMs: number) => {
    if (untilMs > endMs) parts.push({ state: 'offline', fromMs: endMs, toMs: untilMs, ...(why && { why }) })
  }
  for (const span of spans) {
    const from = Math.max(Date.parse(span.from), knownMs)
    const to = Math.min(span.to === undefined ? toMs : Date.parse(span.to), toMs)
    if (to <= endMs && parts.length > 0) continue
    const last = parts.at(-1)
    if (from - endMs > joinMs) addOffline(from)
    if (last?.state === 'online' && from - endMs <= joinMs) parts[parts.length - 1] = { ...last, toMs: to }
    else parts.push({ state: 'online', fromMs: Math.max(from, endMs), toMs: to })
    endMs = to
    why = span.why
  }
  if (!isRestarting) addOffline(toMs)
  else if (toMs > endMs) parts.push({ state: 'restarting', fromMs: endMs, toMs })
  return parts
}

/** "99.2 % online, 3 outages, longest 41 min". */
export function summaryText(summary: ConnectionSummary | undefined, durationText: (ms: number) => string): string {
  if (summary?.onlineShare === undefined) return 'No data yet'
  const { onlineShare, outages, longestOutageSeconds, omittedSpans } = summary
  // 99.97 % must not look like a week without an outage.
  const percent = outages > 0 ? Math.min(onlineShare * 100, 99.9) : onlineShare * 100
  const share = `${percent.toLocaleString('en-GB', { maximumFractionDigits: 1 })} % online`
  if (outages === 0) return `${share}, no outages`
  return `${share}, ${outages.toLocaleString('en-GB')} ${outages === 1 ? 'outage' : 'outages'}, longest ${durationText(longestOutageSeconds * 1000)}${omittedSpans ? '; older connections are not shown' : ''}`
}

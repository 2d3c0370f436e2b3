// Answers reportsIncidents: incidents by rule, place or model, how long they took, and who has the same ones again and again. [contract 16.incidents]
import { dayMs, daySeconds, secondMs } from '../../../contract/durations.ts'
import type { IncidentFigureName, IncidentReportRow } from '../../../contract/reports/incidents.ts'
import { defaultReportPage, maxReportDays, maxReportPage } from '../../../contract/reports/report-query.ts'
import type { InputOf } from '../../context/handlers.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { isoTime } from '../../core/clock.ts'
import { invalid, mustFind, refuseReversed } from '../../core/failure.ts'
import { pageContext, pageSizeOf, pageTokenAt, positionOfPageToken } from '../../core/page-token.ts'
import { startOfDay } from '../../core/time/time-zone.ts'
import { retainedFrom } from '../availability/room-pasts.ts'
import { csvOfRows, reportAnswerOf } from '../make-report.ts'
import { type ReportOrg, reportRequestOf } from '../report-request.ts'
import { findReportRooms } from '../report-rooms.ts'
import { findReportOrg } from '../store.ts'
import { type ReportQueue, sortInTurns, type Turns } from '../turns.ts'
import { type IncidentWindow, reportIncidents } from './report-incidents.ts'

type Query = InputOf<'reportsIncidents'>['query']

export async function reportsIncidents(ctx: RequestContext, queue: ReportQueue, query: Query, csv: boolean) {
  const org = mustFind(await findReportOrg(ctx.db), `organisation ${ctx.org.id}`)
  const now = ctx.clock.now()
  const window = windowOf(query, org.timezone, now)
  const { groupBy = 'rule', sort = '-incidents', pageToken, pageSize, bom: _, ...asked } = query
  const context = pageContext(ctx, 'reportsIncidents', JSON.stringify({ ...asked, groupBy, sort }))
  const start = pageToken && !csv ? positionOfPageToken(ctx.secrets, context, pageToken).seq : 0
  return queue.run(async (turns) => {
    const roomIds = await findTaggedRooms(ctx, query, org, turns)
    const counted = await reportIncidents(ctx, { ...query, roomIds }, window, groupBy, turns)
    const rows = await sortInTurns(counted.rows, orderOf(sort), turns)
    if (csv) return csvOfRows(rows)
    const end = Math.min(start + pageSizeOf(pageSize, defaultReportPage, maxReportPage), rows.length)
    const next = end < rows.length ? pageTokenAt(ctx.secrets, context, { timestamp: 0, seq: end }) : ''
    const { counts, repeatOffenders } = counted
    const incidentsFrom = isoTime(retainedFrom(now, ctx.settings.incidentRetentionSeconds))
    const head = { from: isoTime(window.from), to: isoTime(window.to), incidentsFrom, counts, repeatOffenders }
    return reportAnswerOf(head, rows.slice(start, end), next, turns)
  })
}

/** The rooms with the tag and the field that are asked for; undefined if neither is. */
async function findTaggedRooms(
  ctx: RequestContext,
  { from, to, tag, field }: Query,
  org: ReportOrg,
  turns: Turns,
): Promise<ReadonlySet<number> | undefined> {
  if (tag === undefined && field === undefined) return undefined
  const query = { from, ...(to !== undefined && { to }), ...(tag !== undefined && { tag }), ...(field && { field }) }
  const rooms = await findReportRooms(ctx, query, reportRequestOf(query, org, ctx.clock.now()), turns)
  return new Set(rooms.map(({ id }) => id))
}

function windowOf({ from, to }: Query, zone: string, now: number): IncidentWindow {
  const timeOf = (time: number | string) =>
    typeof time === 'number' ? time : startOfDay(zone, Date.parse(time) / dayMs) * secondMs
  const start = timeOf(from)
  const end = to === undefined ? Math.max(now, start) : timeOf(to)
  refuseReversed({ from: start, to: end })
  if (end - start > (maxReportDays + 1) * daySeconds * secondMs) {
    throw invalid([{ field: 'from', error: `must be at most ${maxReportDays} days before to` }])
  }
  return { from: start, to: end }
}

const collator = new Intl.Collator('en', { numeric: true })

function orderOf(sort: string): (a: IncidentReportRow, b: IncidentReportRow) => number {
  const name = sort.replace(/^-/, '')
  const sign = sort.startsWith('-') ? -1 : 1
  const byName = (a: IncidentReportRow, b: IncidentReportRow) =>
    lastIfAbsent(nameOf(a), nameOf(b), (x, y) => collator.compare(x, y)) || idOf(a) - idOf(b)
  if (name === 'name')
    return (a, b) => lastIfAbsent(nameOf(a), nameOf(b), (x, y) => sign * collator.compare(x, y)) || idOf(a) - idOf(b)
  const figure = (row: IncidentReportRow) => row[name as IncidentFigureName]
  return (a, b) => lastIfAbsent(figure(a), figure(b), (x, y) => sign * (x - y)) || byName(a, b)
}

const nameOf = ({ rule, room, location, region, model }: IncidentReportRow): string | undefined =>
  rule ?? model ?? (room ?? location ?? region)?.name
const idOf = ({ room, location, region }: IncidentReportRow): number => (room ?? location ?? region)?.id ?? 0

function lastIfAbsent<T>(a: T | undefined, b: T | undefined, compare: (a: T, b: T) => number): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
  return compare(a, b)
}

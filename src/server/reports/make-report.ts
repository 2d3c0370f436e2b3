// Answers a report: a page of its rows as JSON, or all of them as CSV. [contract 16.query]
import { daySeconds } from '../../contract/durations.ts'
import { PagedList, type ReadyAnswer, TextChunks } from '../context/answers.ts'
import type { RequestContext } from '../context/request-context.ts'
import { mustFind } from '../core/failure.ts'
import { pageContext, pageTokenAt, positionOfPageToken } from '../core/page-token.ts'
import type { ReportKind } from './report-kind.ts'
import { type ReportQuery, type ReportRequest, reportRequestOf } from './report-request.ts'
import { findReportRooms } from './report-rooms.ts'
import { type ReportRows, reportRows } from './report-rows.ts'
import { findReportOrg } from './store.ts'
import type { ReportQueue, Turns } from './turns.ts'

/** Rows of CSV that are made together. */
const rowsPerCsvPage = 200
/** Items of a list that are written in one step. */
const rowsPerPiece = 20

export type ReportOrgRow = NonNullable<Awaited<ReturnType<typeof findReportOrg>>>

/** `kindOf` makes the report of an organisation. */
export async function makeReport<Sums, Figures extends object>(
  ctx: RequestContext,
  queue: ReportQueue,
  query: ReportQuery,
  csv: boolean,
  kindOf: (org: ReportOrgRow, request: ReportRequest) => ReportKind<Sums, Figures>,
): Promise<ReadyAnswer | PagedList> {
  const org = mustFind(await findReportOrg(ctx.db), `organisation ${ctx.org.id}`)
  const request = reportRequestOf(query, org, ctx.clock.now())
  const kind = kindOf(org, request)
  const { pageToken, pageSize: _, bom: __, ...asked } = query
  const context = pageContext(ctx, kind.id, JSON.stringify(asked))
  const start = pageToken && !csv ? positionOfPageToken(ctx.secrets, context, pageToken).seq : 0
  return queue.run(async (turns) => {
    const rooms = await findReportRooms(ctx, query, request, turns)
    const rows = await reportRows(rooms, request, kind, turns)
    if (csv) return csvPages(queue, rows, turns)
    const end = Math.min(start + request.pageSize, rows.count)
    const page = await rows.read(start, end, turns)
    const next = end < rows.count ? pageTokenAt(ctx.secrets, context, { timestamp: 0, seq: end }) : ''
    const head = { ...headOf(request, org, ctx.clock.now()), ...(await kind.head?.(rooms, turns)) }
    return reportAnswerOf(head, page, next, turns)
  })
}

/** Rows that are known already, as CSV. */
export const csvOfRows = (rows: readonly object[]): PagedList =>
  new PagedList(async function* () {
    for (let at = 0; at < rows.length; at += rowsPerCsvPage) yield { rows: rows.slice(at, at + rowsPerCsvPage) }
  })

/** The first rows are made before the answer begins, so an error has its status. */
async function csvPages<Row extends object>(queue: ReportQueue, rows: ReportRows<Row>, turns: Turns) {
  const first = await rows.read(0, rowsPerCsvPage, turns)
  return new PagedList(async function* () {
    yield { rows: first }
    for (let at = rowsPerCsvPage; at < rows.count; at += rowsPerCsvPage) {
      yield { rows: await queue.runRest((restTurns) => rows.read(at, at + rowsPerCsvPage, restTurns)) }
    }
  })
}

/** Writes an answer whose lists can be long, piece by piece. */
export async function reportAnswerOf(
  head: object,
  rows: readonly object[],
  nextPageToken: string,
  turns: Turns,
): Promise<ReadyAnswer> {
  const answer = new TextChunks()
  let separator = '{'
  for (const [key, value] of Object.entries({ ...head, rows, nextPageToken })) {
    if (value === undefined) continue
    answer.add(`${separator}${JSON.stringify(key)}:`)
    separator = ','
    if (Array.isArray(value)) await addList(answer, value, turns)
    else answer.add(JSON.stringify(value))
  }
  answer.add('}')
  return answer.end()
}

async function addList(answer: TextChunks, items: readonly unknown[], turns: Turns): Promise<void> {
  answer.add('[')
  for (let at = 0; at < items.length; at += rowsPerPiece) {
    answer.add((at === 0 ? '' : ',') + JSON.stringify(items.slice(at, at + rowsPerPiece)).slice(1, -1))
    await turns.next()
  }
  answer.add(']')
}

/** The keys of an answer before its rows. [contract 16.answer] */
export function headOf(request: ReportRequest, org: ReportOrgRow, nowMs: number) {
  const { from, to } = request.windowIn(request.zone)
  // Without a row of progress or a day in it nothing was rolled up yet.
  const roomDaysFrom = org.room_days_from === null ? nowMs / 1000 : org.room_days_from * daySeconds
  const quartersFrom = Math.max(org.quarters_from ?? 0, roomDaysFrom)
  return {
    from: new Date(from * 1000).toISOString(),
    to: new Date(to * 1000).toISOString(),
    hours: request.hoursText,
    days: request.daysText,
    quartersFrom: new Date(Math.floor(quartersFrom) * 1000).toISOString(),
    ...(org.past_known_from > 0 && { pastFrom: new Date(org.past_known_from).toISOString() }),
  }
}

// The connection history of endpoints and rooms: when they were connected, how often not, and for how long. [contract 10.connections]
import { csvChunks } from '../../../contract/csv.ts'
import { StreamedAnswer } from '../../context/answers.ts'
import type { InputOf } from '../../context/handlers.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { mustFind } from '../../core/failure.ts'
import { findRoom } from '../rooms/store.ts'
import { type Absence, availabilityOf, Gaps, intersect } from './availability.ts'
import {
  type ConnectionWindow,
  connectionWindowOf,
  type EndpointHistory,
  endpointHistoryOf,
  readSpans,
} from './history.ts'
import { findHistory, listHistoriesInRoom } from './store.ts'
import { endUnknown, isBefore, spanCsvLine, spansCsvHeader, spanView, summaryView } from './view.ts'

type Query = InputOf<'endpointsConnections'>['query']

/** An answer is made in one turn of the event loop. */
const maxSpans = 5000
/** Spans that are written to a CSV answer together. */
const spansPerBatch = 1000

export async function endpointsConnections(ctx: RequestContext, id: string, query: Query, csv: boolean) {
  const window = windowOf(ctx, query)
  const row = await findHistory(ctx.db, { ...ctx.presenceTimes, id, from: window.from })
  const history = endpointHistoryOf(mustFind(row, `endpoint ${id}`), window)
  if (csv) return csvAnswer(ctx, [history], window)
  const { spans, summary } = await readHistory(ctx, history, window, maxSpans)
  return { ...summary, spans }
}

export async function roomsConnections(ctx: RequestContext, id: number, query: Query, csv: boolean) {
  const window = windowOf(ctx, query)
  mustFind(await findRoom(ctx.db, { id }), `room ${id}`)
  const rows = await listHistoriesInRoom(ctx.db, { ...ctx.presenceTimes, room: id, from: window.from })
  const histories = rows.map((row) => endpointHistoryOf(row, window))
  if (csv) return csvAnswer(ctx, histories, window)
  const maxEach = Math.max(1, Math.floor(maxSpans / histories.length))
  const { from, end } = window
  let absence: Absence = { gaps: [[from, end]], outages: [[from, end]] }
  const [endpoints, spans] = [[] as EndpointAnswer['summary'][], [] as EndpointAnswer['spans']]
  for (const history of histories) {
    const read = await readHistory(ctx, history, window, maxEach)
    // While one endpoint reconnects and none is connected, the room has neither an outage nor a connection.
    const { gaps, outages } = read.absence
    absence = { gaps: intersect(absence.gaps, gaps), outages: intersect(absence.outages, outages) }
    endpoints.push(read.summary)
    spans.push(...read.spans)
  }
  const knownFrom = Math.min(...histories.map((history) => history.knownFrom ?? end), end)
  return { ...availabilityOf(absence, [Math.max(from, knownFrom), end]), endpoints, spans }
}

const windowOf = ({ clock, settings }: RequestContext, query: Query): ConnectionWindow =>
  connectionWindowOf(query, clock.now(), settings.rollupRetentionSeconds)

type EndpointAnswer = Awaited<ReturnType<typeof readHistory>>

/** Returns at most `limit` spans, the newest, with the numbers of all. */
async function readHistory(ctx: RequestContext, history: EndpointHistory, window: ConnectionWindow, limit: number) {
  const gaps = new Gaps([window.from, window.end])
  const spans: ReturnType<typeof spanView>[] = []
  let omitted = 0
  for await (const span of readSpans(ctx.db, history, window)) {
    gaps.add(span.since, span.until ?? window.end, span.unknown_until)
    endUnknown(spans.at(-1), span.since)
    if (!isBefore(span, window)) spans.push(spanView(history.id, span, window))
    // The oldest are dropped many at a time, because that moves all others.
    if (spans.length === 2 * limit) omitted += spans.splice(0, limit).length
  }
  omitted += spans.splice(0, Math.max(0, spans.length - limit)).length
  const absence = gaps.end()
  return { spans, absence, summary: summaryView(history, window, absence, omitted) }
}

function csvAnswer(
  ctx: RequestContext,
  histories: readonly EndpointHistory[],
  window: ConnectionWindow,
): StreamedAnswer {
  const chunks = csvChunks(spansCsvHeader, readAllSpans(ctx, histories, window), spanCsvLine)
  return new StreamedAnswer('text/csv; charset=utf-8', 'connections.csv', chunks)
}

async function* readAllSpans(ctx: RequestContext, histories: readonly EndpointHistory[], window: ConnectionWindow) {
  for (const history of histories) {
    let batch: ReturnType<typeof spanView>[] = []
    for await (const span of readSpans(ctx.db, history, window)) {
      if (isBefore(span, window)) continue
      batch.push(spanView(history.id, span, window))
      if (batch.length < spansPerBatch) continue
      yield batch
      batch = []
    }
    if (batch.length > 0) yield batch
  }
}

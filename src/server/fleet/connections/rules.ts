// The connection history of endpoints and rooms: when they were connected, how often not, and for how long. [contract 10.connections]
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { StreamedAnswer } from '../../context/answers.ts'
import { csvAnswer } from '../../context/csv-answer.ts'
import type { InputOf } from '../../context/handlers.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { mustFind } from '../../core/failure.ts'
import { findRoom } from '../rooms/store.ts'
import { listAbsences } from '../sources/absence-store.ts'
import {
  type Absence,
  availabilityOf,
  Gaps,
  hiddenBeforeEndMs,
  intersect,
  mergeOverlapping,
  type Period,
} from './availability.ts'
import { findGatewayConnection, listGatewaySpans } from './gateway-store.ts'
import {
  type ConnectionWindow,
  connectionWindowOf,
  type EndpointHistory,
  endpointHistoryOf,
  pageSizeRows,
  readSpans,
} from './history.ts'
import { findHistory, listHistoriesInRoom } from './store.ts'
import { gapView, isBefore, spanCsvLine, spansCsvHeader, spanView, summaryView } from './view.ts'

type Query = InputOf<'endpointsConnections'>['query']

/** An answer is made in one turn of the event loop. */
const maxSpans = 5000
/** Spans that are written to a CSV answer together. */
const spansPerBatch = 1000

export async function endpointsConnections(ctx: RequestContext, id: string, query: Query, csv: boolean) {
  const window = windowOf(ctx, query)
  const row = await findHistory(ctx.db, { ...ctx.presenceTimes, id, from: window.from })
  const history = endpointHistoryOf(mustFind(row, `endpoint ${id}`), window)
  if (csv) return spansCsv(ctx, query, [history], window)
  const { spans, gaps, summary } = await readHistory(ctx, history, window, maxSpans)
  return { ...summary, spans, gaps }
}

export async function roomsConnections(ctx: RequestContext, id: number, query: Query, csv: boolean) {
  const window = windowOf(ctx, query)
  mustFind(await findRoom(ctx.db, { id }), `room ${id}`)
  const rows = await listHistoriesInRoom(ctx.db, { ...ctx.presenceTimes, room: id, from: window.from })
  const histories = rows.map((row) => endpointHistoryOf(row, window))
  if (csv) return spansCsv(ctx, query, histories, window)
  const maxEach = Math.max(1, Math.floor(maxSpans / histories.length))
  const { from, end } = window
  let absence: Pick<Absence, 'gaps' | 'outages'> = { gaps: [[from, end]], outages: [[from, end]] }
  const [endpoints, spans] = [[] as EndpointAnswer['summary'][], [] as EndpointAnswer['spans']]
  const excused: EndpointAnswer['gaps'] = []
  for (const history of histories) {
    const read = await readHistory(ctx, history, window, maxEach)
    // While one endpoint is asleep or unknown and none is connected, the room has neither an outage nor a connection.
    const { gaps, outages } = read.absence
    absence = { gaps: intersect(absence.gaps, gaps), outages: intersect(absence.outages, outages) }
    endpoints.push(read.summary)
    spans.push(...read.spans)
    excused.push(...read.gaps)
  }
  const knownFrom = Math.min(...histories.map((history) => history.knownFrom ?? end), end)
  return { ...availabilityOf(absence, [Math.max(from, knownFrom), end]), endpoints, spans, gaps: excused }
}

const windowOf = ({ clock, settings }: RequestContext, query: Query): ConnectionWindow =>
  connectionWindowOf(query, clock.now(), settings.rollupRetentionSeconds)

type EndpointAnswer = Awaited<ReturnType<typeof readHistory>>

/** Returns at most `limit` spans, the newest, with the numbers of all. */
async function readHistory(ctx: RequestContext, history: EndpointHistory, window: ConnectionWindow, limit: number) {
  const gaps = new Gaps([window.from, window.end])
  const spans: ReturnType<typeof spanView>[] = []
  const hidden = new HiddenTimes(ctx, window)
  let omitted = 0
  for await (const span of readSpans(ctx.db, history, window)) {
    const { unknown_until: unknownUntil, overslept_at: oversleptAt, rested, via, source_id: source } = span
    const facts = { unknownUntil, oversleptAt, isRested: rested === 1, hidden: await hidden.of(via, source) }
    gaps.add(span.since, span.until ?? window.end, facts)
    if (!isBefore(span, window)) spans.push(spanView(history.id, span, window))
    // The oldest are dropped many at a time, because that moves all others.
    if (spans.length === 2 * limit) omitted += spans.splice(0, limit).length
  }
  omitted += spans.splice(0, Math.max(0, spans.length - limit)).length
  const absence = gaps.end()
  return {
    spans,
    absence,
    gaps: absence.excused.slice(-limit).map((gap) => gapView(history.id, gap)),
    summary: summaryView(history, window, absence, omitted),
  }
}

/** When gateways and sources were away, for the history of their devices. A caller need not see the gateway. */
class HiddenTimes {
  readonly #ctx: RequestContext
  readonly #window: ConnectionWindow
  /** By gateway, and by gateway with source. */
  readonly #known = new Map<string, Period[]>()

  constructor(ctx: RequestContext, window: ConnectionWindow) {
    this.#ctx = ctx
    this.#window = window
  }

  async of(gateway: string | null, source: string | null): Promise<readonly Period[]> {
    if (gateway === null) return []
    const key = `${gateway} ${source ?? ''}`
    const known = this.#known.get(key)
    if (known) return known
    const ofGateway = source === null ? await this.#readGateway(gateway) : await this.of(gateway, null)
    const periods = source === null ? ofGateway : mergeOverlapping(inOrder(ofGateway, await this.#readSource(source)))
    this.#known.set(key, [...periods])
    return periods
  }

  async #readSource(source: string): Promise<Period[]> {
    const { db, presenceTimes } = this.#ctx
    const { from, end } = this.#window
    const { settleMs } = presenceTimes
    const rows = await listAbsences(db, { source, from: from - settleMs })
    return rows.map(({ since, until }) => [since - hiddenBeforeEndMs, until === null ? end : until + settleMs])
  }

  async #readGateway(gateway: string): Promise<Period[]> {
    const { db, presenceTimes } = this.#ctx
    const { from, end } = this.#window
    const present = await findGatewayConnection(db, { gateway })
    if (!present) return []
    let periods: Period[] = []
    let awaySince: number | undefined
    const add = (since: number, until: number | undefined) => {
      if (awaySince !== undefined && since > awaySince) {
        periods.push([awaySince - hiddenBeforeEndMs, since + presenceTimes.settleMs])
      }
      awaySince = until
    }
    for (let after = -1, isMore = true; isMore; ) {
      const rows = await listGatewaySpans(db, { gateway, from, after, limit: pageSizeRows })
      for (const { since, until } of rows) add(since, until)
      // A gateway that connects often has periods that overlap.
      periods = mergeOverlapping(periods)
      after = rows.at(-1)?.since ?? after
      isMore = rows.length === pageSizeRows
      // SQLite answers synchronously, and other requests must have their turn.
      if (isMore) await nextTurn()
    }
    const { node_id, changed_at: since, connected, connection_time } = present
    if (node_id !== null && since !== null) add(since, connected ? undefined : (connection_time ?? since))
    if (awaySince !== undefined) periods.push([awaySince - hiddenBeforeEndMs, end])
    return mergeOverlapping(periods)
  }
}

const inOrder = (some: readonly Period[], others: readonly Period[]): Period[] =>
  [...some, ...others].sort(([a], [b]) => a - b)

const spansCsv = (
  ctx: RequestContext,
  query: Query,
  histories: readonly EndpointHistory[],
  window: ConnectionWindow,
): StreamedAnswer =>
  csvAnswer(query, {
    name: 'connections',
    header: spansCsvHeader,
    batches: readAllSpans(ctx, histories, window),
    lineOf: spanCsvLine,
  })

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

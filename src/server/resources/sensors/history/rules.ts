// Sensor history: pages as JSON, or a whole window as CSV. [contract 6.sensorHistory]
import type { RequestContext } from '../../../context/request-context.ts'
import { mustFind } from '../../../core/failure.ts'
import { type PagePosition, pageTokenAt, positionOfPageToken } from '../../../core/page-token.ts'
import { type ReadyAnswer, StreamedAnswer, TextChunks } from '../../../http/answer.ts'
import { findRoom } from '../../rooms/store.ts'
import { hours, quarters } from '../slots.ts'
import { RollupReader } from './rollup-reader.ts'
import { FiveMinuteReader, RawReader } from './sample-reader.ts'
import { findNumber, findZones, listStays, type StatisticsRow } from './store.ts'
import { bucketView, type HistoryView, rawSampleView } from './view.ts'
import { type HistoryPosition, type Slice, type SliceReader, walk } from './walk.ts'
import { type HistoryQuery, type HistoryRequest, type HistoryWindow, historyRequestOf, windowOf } from './window.ts'

/** A page ends early when it took this many rows: its token goes on. A room can have thousands of endpoints. */
const mostRowsOfPage = 50_000
/** Text that is sent in one piece, in characters: most pages are one, and in a stream nobody waits long for a piece. */
const pageLength = 512 * 1024
const pieceLength = 64 * 1024

export async function endpointsSensorHistory(ctx: RequestContext, id: string, query: HistoryQuery, csv: boolean) {
  const { asked, window } = await readQuery(ctx, query)
  const endpoint = mustFind(await findNumber(ctx.db, id), `endpoint ${id}`)
  const place = { room: 0, stays: [{ endpoint, since: 0, until: null }] }
  return historyOf(ctx, { name: `endpoint ${id}`, query, asked, window, place, idOf: undefined, csv })
}

export async function roomsSensorHistory(ctx: RequestContext, id: number, query: HistoryQuery, csv: boolean) {
  const { db } = ctx
  const { asked, window } = await readQuery(ctx, query)
  mustFind(await findRoom(db, { id }), `room ${id}`)
  const { buckets, first, end } = window
  const stays = await listStays(db, { room: id, from: buckets.start(first), to: buckets.start(end) })
  const place = { room: id, stays }
  const ids = new Map(stays.map((stay) => [stay.endpoint, stay.endpoint_id]))
  const idOf = (endpoint: number) => ids.get(endpoint) as string
  return historyOf(ctx, { name: `room ${id}`, query, asked, window, place, idOf, csv })
}

async function readQuery(
  ctx: RequestContext,
  query: HistoryQuery,
): Promise<{ asked: HistoryRequest; window: HistoryWindow }> {
  const { db, settings, clock } = ctx
  const asked = historyRequestOf(query)
  const zones = mustFind(await findZones(db), `organisation ${ctx.org.id}`)
  return { asked, window: windowOf(asked, zones, settings, clock.now()) }
}

interface Request {
  /** Whose history it is, for the page token. */
  readonly name: string
  readonly query: HistoryQuery
  readonly asked: HistoryRequest
  readonly window: HistoryWindow
  readonly place: HistoryPosition
  /** Who measured a sample, where that is shown. */
  readonly idOf: ((endpoint: number) => string) | undefined
  readonly csv: boolean
}

function historyOf(ctx: RequestContext, request: Request): Promise<ReadyAnswer> | StreamedAnswer {
  const { asked, window, idOf, csv } = request
  const { db } = ctx
  const columns = asked.fields.map(({ column }) => column)
  const start = csv ? undefined : startOf(ctx, request)
  if (asked.interval === 'raw') {
    const isInside = start !== undefined && start.timestamp >= window.from
    const { timestamp: from, seq: endpoint } = isInside ? start : { timestamp: window.from, seq: 0 }
    const reader = new RawReader(db, columns, { from, to: window.to, endpoint })
    return write(ctx, request, start, reader, rawSampleView(asked.fields, idOf))
  }
  const view = bucketView(asked.fields, window.buckets, asked.interval === '1d')
  return write(ctx, request, start, bucketReader(ctx, asked, window), view)
}

function bucketReader(
  ctx: RequestContext,
  { interval, fields }: HistoryRequest,
  { buckets, dayZone }: HistoryWindow,
): SliceReader<StatisticsRow> {
  const { db } = ctx
  const columns = fields.map(({ column }) => column)
  if (interval === '5m') return new FiveMinuteReader(db, columns)
  const quartersInBucket = { '15m': 1, '1h': 4, '1d': 100 }[interval as '15m' | '1h' | '1d']
  const source = { columns, buckets, quartersInBucket, dayZone }
  if (interval === '1h') return new RollupReader(db, { ...source, table: 'sample_hours', slots: hours })
  if (dayZone !== undefined) return new RollupReader(db, { ...source, table: 'sample_days', slots: buckets })
  return new RollupReader(db, { ...source, table: 'sample_quarters', slots: quarters })
}

function write<T>(
  ctx: RequestContext,
  request: Request,
  start: PagePosition | undefined,
  reader: SliceReader<T>,
  view: HistoryView<T>,
): Promise<ReadyAnswer> | StreamedAnswer {
  const { window, asked, place, csv } = request
  const first = start ? Math.max(window.first, window.buckets.at(start.timestamp)) : window.first
  const most = csv ? Number.POSITIVE_INFINITY : asked.pageSize + 1
  const slices = walk(ctx.db, place, reader, { first, end: window.end, most })
  if (csv) return new StreamedAnswer('text/csv; charset=utf-8', 'sensor-history.csv', csvOf(slices, view))
  return page(ctx, request, slices, view)
}

async function page<T>(
  ctx: RequestContext,
  request: Request,
  slices: AsyncGenerator<Slice<T>>,
  view: HistoryView<T>,
): Promise<ReadyAnswer> {
  const { asked, window } = request
  const answer = new TextChunks()
  let text = `{"interval":"${asked.interval}","timezone":${JSON.stringify(window.zone)},"${view.key}":[`
  let [count, rows] = [0, 0]
  let next: PagePosition | undefined
  for await (const slice of slices) {
    for (const item of slice.items) {
      if (count === asked.pageSize) {
        next = view.position(item)
        break
      }
      text += count++ === 0 ? view.json(item) : `,${view.json(item)}`
      if (text.length < pageLength) continue
      answer.add(text)
      text = ''
    }
    rows += slice.rows
    if (next) break
    if (rows < mostRowsOfPage || slice.next >= window.end) continue
    next = { timestamp: window.buckets.start(slice.next), seq: 0 }
    break
  }
  const token = next ? pageTokenAt(ctx.secrets, contextOf(ctx, request), next) : ''
  answer.add(`${text}],"nextPageToken":"${token}"}`)
  return answer.end()
}

async function* csvOf<T>(slices: AsyncGenerator<Slice<T>>, view: HistoryView<T>): AsyncGenerator<string> {
  let text = view.csvHeader
  for await (const { items } of slices) {
    for (const item of items) {
      text += view.csv(item)
      if (text.length < pieceLength) continue
      yield text
      text = ''
    }
  }
  if (text !== '') yield text
}

const startOf = (ctx: RequestContext, request: Request): PagePosition | undefined =>
  request.query.pageToken
    ? positionOfPageToken(ctx.secrets, contextOf(ctx, request), request.query.pageToken)
    : undefined

/** A token says nothing about another question. */
const contextOf = (ctx: RequestContext, { name, asked: { interval, from, to, fields }, window }: Request): string =>
  [ctx.org.id, name, interval, from, to ?? '', fields.map((f) => f.name).join(), window.zone].join('/')

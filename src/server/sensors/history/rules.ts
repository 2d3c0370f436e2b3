// Sensor history: pages as JSON, or a whole window as CSV. [contract 6.sensorHistory]
import { setImmediate as nextTurn } from 'node:timers/promises'
import { csvCells } from '../../../contract/csv.ts'
import { daySeconds } from '../../../contract/durations.ts'
import { maxHistoryAllDays } from '../../../contract/sensors/sensor-history.ts'
import { type ReadyAnswer, type StreamedAnswer, TextChunks } from '../../context/answers.ts'
import { csvAnswer } from '../../context/csv-answer.ts'
import type { InputOf } from '../../context/handlers.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { invalid, mustFind } from '../../core/failure.ts'
import { type PagePosition, pageContext, pageTokenAt, positionOfPageToken } from '../../core/page-token.ts'
import { hours, quarters } from '../../core/time/slots.ts'
import type { OrgReader } from '../../db/handles.ts'
import { findRoom, listRoomsWithLocations } from '../../fleet/rooms/store.ts'
import { RollupReader } from './rollup-reader.ts'
import { FiveMinuteReader, RawReader } from './sample-reader.ts'
import { findNumber, findZones, listStays, listStaysWithRegions, type StatisticsRow } from './store.ts'
import { bucketView, type HistoryView, rawSampleView } from './view.ts'
import { type HistorySubject, type Slice, type SliceReader, walk } from './walk.ts'
import { type HistoryQuery, type HistoryRequest, type HistoryWindow, historyRequestOf, windowOf } from './window.ts'

/** A page ends early when it took this many rows, and its token continues there. A room can have thousands of endpoints. */
const maxRowsPerPage = 50_000
/** Characters that are sent in one piece: most pages are one, and a stream sends its first piece early. */
const maxPageChunkCharacters = 512 * 1024

export async function endpointsSensorHistory(ctx: RequestContext, id: string, query: HistoryQuery, csv: boolean) {
  const { history, window } = await readQuery(ctx, query)
  const { number: endpoint } = mustFind(await findNumber(ctx.db, { id }), `endpoint ${id}`)
  const place = { room: 0, stays: [{ endpoint, since: 0, until: null }] }
  return historyOf(ctx, { name: `endpoint ${id}`, query, history, window, place, idOf: undefined, csv })
}

export async function roomsSensorHistory(ctx: RequestContext, id: number, query: HistoryQuery, csv: boolean) {
  const { db } = ctx
  const { history, window } = await readQuery(ctx, query)
  mustFind(await findRoom(db, { id }), `room ${id}`)
  const { buckets, first, end } = window
  const span = { room: id, from: buckets.start(first), to: buckets.start(end) }
  const stays = db.access.isEverything ? await listStays(db, span) : await listStaysAsSeen(db, span)
  const place = { room: id, stays }
  const ids = new Map(stays.map((stay) => [stay.endpoint, stay.endpoint_id]))
  const idOf = (endpoint: number) => ids.get(endpoint)
  return historyOf(ctx, { name: `room ${id}`, query, history, window, place, idOf, csv })
}

/** Rooms are read in pages of this size. */
const roomsPerPage = 200

/** The rows of a room are those of its own history. */
export async function roomsSensorHistoryAll(
  ctx: RequestContext,
  { regionId, locationId, ...query }: InputOf<'roomsSensorHistoryAll'>['query'],
): Promise<StreamedAnswer> {
  const { history, window } = await readQuery(ctx, query)
  if (window.seconds > maxHistoryAllDays * daySeconds) {
    throw invalid([{ field: 'from', error: `must be at most ${maxHistoryAllDays} days before to` }])
  }
  const view = bucketView(history.fields, window.buckets, history.interval === '1d')
  const rooms = (after: number) => listRoomsWithLocations(ctx.db, { after, limit: roomsPerPage }, regionId, locationId)
  return csvAnswer(query, {
    name: 'sensor-history',
    header: `${csvCells(['roomId', 'roomName', 'locationId', 'locationName'])},${view.csvHeader}`,
    batches: historyLines(ctx, history, window, view, rooms),
    lineOf: (line) => line,
  })
}

async function* historyLines(
  ctx: RequestContext,
  history: HistoryRequest,
  window: HistoryWindow,
  view: HistoryView<StatisticsRow>,
  readRooms: (after: number) => ReturnType<typeof listRoomsWithLocations>,
): AsyncGenerator<readonly string[]> {
  const { buckets, first, end } = window
  for (let after = 0; ; ) {
    const rooms = await readRooms(after)
    for (const { id, name, location_id, location_name } of rooms) {
      const stays = await listStays(ctx.db, { room: id, from: buckets.start(first), to: buckets.start(end) })
      const place = csvCells([String(id), name, String(location_id ?? ''), location_name ?? ''])
      const range = { first, end, maxItems: Number.POSITIVE_INFINITY }
      const slices = walk(ctx.db, { room: id, stays }, bucketReader(ctx, history, window), range)
      for await (const { items } of slices) {
        await nextTurn()
        yield items.map((row) => `${place},${view.csv(row)}`)
      }
      await nextTurn()
    }
    const last = rooms.at(-1)
    if (!last || rooms.length < roomsPerPage) return
    after = last.id
  }
}

/** A measurement in a room belongs to the room. An endpoint that is elsewhere now is not named to those who do not see it there. */
const listStaysAsSeen = async (db: OrgReader, span: Parameters<typeof listStaysWithRegions>[1]) =>
  (await listStaysWithRegions(db, span)).map(({ region_id, endpoint_id, ...stay }) => ({
    ...stay,
    endpoint_id: db.access.sees(region_id) ? endpoint_id : undefined,
  }))

async function readQuery(
  ctx: RequestContext,
  query: HistoryQuery,
): Promise<{ history: HistoryRequest; window: HistoryWindow }> {
  const { db, settings, clock } = ctx
  const history = historyRequestOf(query)
  const zones = mustFind(await findZones(db), `organisation ${ctx.org.id}`)
  return { history, window: windowOf(history, zones, settings, clock.now()) }
}

interface Request {
  /** The endpoint or room, for the page token. */
  readonly name: string
  readonly query: HistoryQuery
  readonly history: HistoryRequest
  readonly window: HistoryWindow
  readonly place: HistorySubject
  /** Returns the id of the endpoint that measured a sample, unless the caller does not see it. Undefined where answers do not name endpoints. */
  readonly idOf: ((endpoint: number) => string | undefined) | undefined
  readonly csv: boolean
}

function historyOf(ctx: RequestContext, request: Request): Promise<ReadyAnswer> | StreamedAnswer {
  const { history, window, idOf, csv } = request
  const { db } = ctx
  const columns = history.fields.map(({ column }) => column)
  const start = csv ? undefined : startOf(ctx, request)
  if (history.interval === 'raw') {
    const isInside = start !== undefined && start.timestamp >= window.from
    const { timestamp: from, seq: endpoint } = isInside ? start : { timestamp: window.from, seq: 0 }
    const reader = new RawReader(db, columns, { from, to: window.to, endpoint })
    return write(ctx, request, start, reader, rawSampleView(history.fields, idOf))
  }
  const view = bucketView(history.fields, window.buckets, history.interval === '1d')
  return write(ctx, request, start, bucketReader(ctx, history, window), view)
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
  const { window, history, place, csv } = request
  const first = start ? Math.max(window.first, window.buckets.at(start.timestamp)) : window.first
  const maxItems = csv ? Number.POSITIVE_INFINITY : history.pageSize + 1
  const slices = walk(ctx.db, place, reader, { first, end: window.end, maxItems })
  if (csv) {
    const { csvHeader: header, csv: lineOf } = view
    return csvAnswer(request.query, { name: 'sensor-history', header, batches: itemsOf(slices), lineOf })
  }
  return page(ctx, request, slices, view)
}

async function page<T>(
  ctx: RequestContext,
  request: Request,
  slices: AsyncGenerator<Slice<T>>,
  view: HistoryView<T>,
): Promise<ReadyAnswer> {
  const { history, window } = request
  const answer = new TextChunks()
  let text = `{"interval":"${history.interval}","timezone":${JSON.stringify(window.zone)},"${view.key}":[`
  let [count, rows] = [0, 0]
  let next: PagePosition | undefined
  for await (const slice of slices) {
    for (const item of slice.items) {
      if (count === history.pageSize) {
        next = view.position(item)
        break
      }
      text += count++ === 0 ? view.json(item) : `,${view.json(item)}`
      if (text.length < maxPageChunkCharacters) continue
      answer.add(text)
      text = ''
    }
    rows += slice.rows
    if (next) break
    if (rows < maxRowsPerPage || slice.next >= window.end) continue
    next = { timestamp: window.buckets.start(slice.next), seq: 0 }
    break
  }
  const token = next ? pageTokenAt(ctx.secrets, contextOf(ctx, request), next) : ''
  answer.add(`${text}],"nextPageToken":"${token}"}`)
  return answer.end()
}

async function* itemsOf<T>(slices: AsyncGenerator<Slice<T>>): AsyncGenerator<readonly T[]> {
  for await (const { items } of slices) yield items
}

const startOf = (ctx: RequestContext, request: Request): PagePosition | undefined =>
  request.query.pageToken
    ? positionOfPageToken(ctx.secrets, contextOf(ctx, request), request.query.pageToken)
    : undefined

const contextOf = (ctx: RequestContext, { name, history: { interval, from, to, fields }, window }: Request): string =>
  pageContext(ctx, name, interval, from, to ?? '', fields.map((f) => f.name).join(), window.zone)

// Sensor history: pages as JSON, or a whole window as CSV. [contract 6.sensorHistory]
import type { By } from '../../../context/request-context.ts'
import { found } from '../../../core/failure.ts'
import { type Position, positionOf, tokenAt } from '../../../core/page-token.ts'
import { Pieces, type Ready, Streamed } from '../../../http/answer.ts'
import { findRoom } from '../../rooms/store.ts'
import { hours, quarters } from '../slots.ts'
import { RollupReader } from './rollup-reader.ts'
import { FiveMinuteReader, RawReader } from './sample-reader.ts'
import { findNumber, findZones, listStays, type StatisticsRow } from './store.ts'
import { bucketView, sampleView, type View } from './view.ts'
import { type Place, type Slice, type SliceReader, walk } from './walk.ts'
import { type Asked, askedOf, type HistoryQuery, type Window, windowOf } from './window.ts'

/** A page ends early when it took this many rows: its token goes on. A room can have thousands of endpoints. */
const mostRowsOfPage = 50_000
/** Text that is sent in one piece, in characters: most pages are one, and in a stream nobody waits long for a piece. */
const pageLength = 512 * 1024
const pieceLength = 64 * 1024

export async function endpointsSensorHistory(by: By, id: string, query: HistoryQuery, csv: boolean) {
  const { asked, window } = await readQuery(by, query)
  const endpoint = found(await findNumber(by.ground.db, by.org.key, id), `endpoint ${id}`)
  const place = { org: by.org.key, room: 0, stays: [{ endpoint, since: 0, until: null }] }
  return historyOf(by, { name: `endpoint ${id}`, query, asked, window, place, idOf: undefined, csv })
}

export async function roomsSensorHistory(by: By, id: number, query: HistoryQuery, csv: boolean) {
  const { db } = by.ground
  const { asked, window } = await readQuery(by, query)
  found(await findRoom(db, by.org.key, id), `room ${id}`)
  const { buckets, first, end } = window
  const stays = await listStays(db, by.org.key, id, buckets.start(first), buckets.start(end))
  const place = { org: by.org.key, room: id, stays }
  const ids = new Map(stays.map((stay) => [stay.endpoint, stay.endpoint_id]))
  const idOf = (endpoint: number) => ids.get(endpoint) as string
  return historyOf(by, { name: `room ${id}`, query, asked, window, place, idOf, csv })
}

async function readQuery(by: By, query: HistoryQuery): Promise<{ asked: Asked; window: Window }> {
  const { db, settings, clock } = by.ground
  const asked = askedOf(query)
  const zones = found(await findZones(db, by.org.key), `organisation ${by.org.id}`)
  return { asked, window: windowOf(asked, zones, settings, clock.now()) }
}

interface Request {
  /** Whose history it is, for the page token. */
  readonly name: string
  readonly query: HistoryQuery
  readonly asked: Asked
  readonly window: Window
  readonly place: Place
  /** Who measured a sample, where that is shown. */
  readonly idOf: ((endpoint: number) => string) | undefined
  readonly csv: boolean
}

function historyOf(by: By, request: Request): Promise<Ready> | Streamed {
  const { asked, window, idOf, csv } = request
  const { db } = by.ground
  const columns = asked.fields.map(({ column }) => column)
  const start = csv ? undefined : startOf(by, request)
  if (asked.interval === 'raw') {
    const isInside = start !== undefined && start.timestamp >= window.from
    const { timestamp: from, seq: endpoint } = isInside ? start : { timestamp: window.from, seq: 0 }
    const reader = new RawReader(db, columns, { from, to: window.to, endpoint })
    return write(by, request, start, reader, sampleView(asked.fields, idOf))
  }
  const view = bucketView(asked.fields, window.buckets, asked.interval === '1d')
  return write(by, request, start, bucketReader(by, asked, window), view)
}

function bucketReader(by: By, { interval, fields }: Asked, { buckets, dayZone }: Window): SliceReader<StatisticsRow> {
  const { db } = by.ground
  const columns = fields.map(({ column }) => column)
  if (interval === '5m') return new FiveMinuteReader(db, columns)
  const quartersInBucket = { '15m': 1, '1h': 4, '1d': 100 }[interval as '15m' | '1h' | '1d']
  const source = { columns, buckets, quartersInBucket, dayZone }
  if (interval === '1h') return new RollupReader(db, { ...source, table: 'sample_hours', slots: hours })
  if (dayZone !== undefined) return new RollupReader(db, { ...source, table: 'sample_days', slots: buckets })
  return new RollupReader(db, { ...source, table: 'sample_quarters', slots: quarters })
}

function write<T>(
  by: By,
  request: Request,
  start: Position | undefined,
  reader: SliceReader<T>,
  view: View<T>,
): Promise<Ready> | Streamed {
  const { window, asked, place, csv } = request
  const first = start ? Math.max(window.first, window.buckets.at(start.timestamp)) : window.first
  const most = csv ? Number.POSITIVE_INFINITY : asked.pageSize + 1
  const slices = walk(by.ground.db, place, reader, { first, end: window.end, most })
  if (csv) return new Streamed('text/csv; charset=utf-8', 'sensor-history.csv', csvOf(slices, view))
  return page(by, request, slices, view)
}

async function page<T>(by: By, request: Request, slices: AsyncGenerator<Slice<T>>, view: View<T>): Promise<Ready> {
  const { asked, window } = request
  const answer = new Pieces()
  let text = `{"interval":"${asked.interval}","timezone":${JSON.stringify(window.zone)},"${view.key}":[`
  let [count, rows] = [0, 0]
  let next: Position | undefined
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
  const token = next ? tokenAt(by.ground.secrets, contextOf(by, request), next) : ''
  answer.add(`${text}],"nextPageToken":"${token}"}`)
  return answer.end()
}

async function* csvOf<T>(slices: AsyncGenerator<Slice<T>>, view: View<T>): AsyncGenerator<string> {
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

const startOf = (by: By, request: Request): Position | undefined =>
  request.query.pageToken ? positionOf(by.ground.secrets, contextOf(by, request), request.query.pageToken) : undefined

/** A token says nothing about another question. */
const contextOf = (by: By, { name, asked: { interval, from, to, fields }, window }: Request): string =>
  [by.org.id, name, interval, from, to ?? '', fields.map((f) => f.name).join(), window.zone].join('/')

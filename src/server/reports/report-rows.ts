// Makes the rows of a report in their order: rooms, of which only those of a page are counted if they are sorted by name, or groups.
import type { ReportGroup } from '../../contract/reports/report-query.ts'
import { dateOf } from '../core/time/time-zone.ts'
import { CountedZones } from './counted-zones.ts'
import type { AddRoom, CountedRoom, ReportKind } from './report-kind.ts'
import { type ReportRequest, refuseTooMany } from './report-request.ts'
import { placeOfRoom, type ReportPlace, type ReportRoom } from './report-rooms.ts'
import { sortInTurns, type Turns } from './turns.ts'

export interface ReportRows<Row> {
  readonly count: number
  /** The rows from one number to the one before another. */
  read(from: number, to: number, turns: Turns): Promise<Row[]>
}

/** A room's sums take about 2 KB. */
const maxKeptRooms = 5000

/** A row before its place in the order is known. */
interface Unsorted {
  /** Undefined for what has no name: it comes last. */
  readonly name: string | undefined
  /** Decides between equal names: an id or a day. */
  readonly number: number
  readonly figure: number | undefined
}

interface RoomEntry extends Unsorted {
  readonly room: ReportRoom
}

/** Makes the figures of rooms, and calls back for each of them. */
class RoomCounter<Sums, Figures extends object> {
  readonly #request: ReportRequest
  readonly #kind: ReportKind<Sums, Figures>
  readonly #zones: CountedZones

  constructor(request: ReportRequest, kind: ReportKind<Sums, Figures>) {
    this.#request = request
    this.#kind = kind
    this.#zones = new CountedZones(request)
  }

  async count(
    rooms: readonly ReportRoom[],
    turns: Turns,
    found: (counted: CountedRoom, add: AddRoom<Sums>) => void,
  ): Promise<void> {
    const atOnce = this.#kind.roomsAtOnce(this.#request.days)
    for (let at = 0; at < rooms.length; at += atOnce) {
      const batch: CountedRoom[] = []
      for (const room of rooms.slice(at, at + atOnce)) {
        batch.push({ room, zone: await this.#zones.of(room.zone, turns) })
      }
      const add = await this.#kind.read(batch, turns)
      await turns.next()
      for (const counted of batch) {
        found(counted, add)
        await turns.next()
      }
    }
  }

  /** The sums of each room alone. */
  ofRooms(rooms: readonly ReportRoom[], turns: Turns, found: (room: ReportRoom, sums: Sums) => void): Promise<void> {
    return this.count(rooms, turns, ({ room, zone }, add) => {
      const sums = this.#kind.empty()
      for (const part of zone.parts) add(room, part, sums)
      found(room, sums)
    })
  }
}

export async function reportRows<Sums, Figures extends object>(
  rooms: readonly ReportRoom[],
  request: ReportRequest,
  kind: ReportKind<Sums, Figures>,
  turns: Turns,
): Promise<ReportRows<ReportPlace & Figures>> {
  refuseTooMany(request, rooms.length)
  const counter = new RoomCounter(request, kind)
  return request.groupBy === 'room'
    ? roomRows(rooms, request, kind, counter, turns)
    : groupRows(rooms, request, kind, counter, turns)
}

/** The figures of all rooms together, as those of a group of places. */
export async function reportTotal<Sums, Figures extends object>(
  rooms: readonly ReportRoom[],
  request: ReportRequest,
  kind: ReportKind<Sums, Figures>,
  turns: Turns,
): Promise<{ rooms: number } & Figures> {
  refuseTooMany(request, rooms.length)
  const sums = kind.empty()
  await new RoomCounter(request, kind).count(rooms, turns, ({ room, zone }, add) => {
    for (const part of zone.parts) add(room, part, sums)
  })
  return { rooms: rooms.length, ...kind.figures(sums, 'region') }
}

async function roomRows<Sums, Figures extends object>(
  rooms: readonly ReportRoom[],
  request: ReportRequest,
  kind: ReportKind<Sums, Figures>,
  counter: RoomCounter<Sums, Figures>,
  turns: Turns,
): Promise<ReportRows<ReportPlace & Figures>> {
  const { sortBy } = request
  const { rankedBy } = kind
  const isRanked = sortBy !== 'name'
  // The sums of very many rooms would take much memory: then those of a page are made again.
  const known = new Map<number, Sums>()
  const figures = new Map<number, number | undefined>()
  const rankFigures: number[] = []
  if (isRanked) {
    await counter.ofRooms(rooms, turns, (room, sums) => {
      figures.set(room.id, kind.figure(sums, sortBy))
      if (rooms.length <= maxKeptRooms) known.set(room.id, sums)
      const rankFigure = rankedBy === undefined ? undefined : kind.figure(sums, rankedBy)
      if (rankFigure !== undefined) rankFigures.push(rankFigure)
    })
  }
  const ranks = await ranksOf(rankFigures, turns)
  const entries = rooms.map(
    (room): RoomEntry => ({ room, name: room.name, number: room.id, figure: figures.get(room.id) }),
  )
  const sorted = await sortInTurns(entries, orderOf(request), turns)
  const rowOf = (room: ReportRoom, sums: Sums) => {
    const rankFigure = rankedBy === undefined ? undefined : kind.figure(sums, rankedBy)
    const rank = rankFigure === undefined ? undefined : ranks.get(rankFigure)
    return { ...placeOfRoom(room), ...kind.figures(sums, 'room'), ...(rank !== undefined && { rank }) }
  }
  return {
    count: sorted.length,
    async read(from, to, pageTurns) {
      const rows: (ReportPlace & Figures)[] = []
      const page = sorted.slice(from, to).map(({ room }) => room)
      const add = (room: ReportRoom, sums: Sums) => void rows.push(rowOf(room, sums))
      if (known.size === 0) {
        await counter.ofRooms(page, pageTurns, add)
        return rows
      }
      for (const room of page) {
        add(room, known.get(room.id) as Sums)
        await pageTurns.next()
      }
      return rows
    },
  }
}

/** The rank of each figure: 1 for the largest, and one more than the number of rooms with a larger one for others. */
async function ranksOf(figures: readonly number[], turns: Turns): Promise<ReadonlyMap<number, number>> {
  const ranks = new Map<number, number>()
  const sorted = await sortInTurns(figures, (a, b) => b - a, turns)
  for (const [i, figure] of sorted.entries()) if (!ranks.has(figure)) ranks.set(figure, i + 1)
  return ranks
}

interface Group<Sums> {
  readonly place: ReportPlace
  readonly sums: Sums
  readonly name: string | undefined
  readonly number: number
  rooms: number
}

async function groupRows<Sums, Figures extends object>(
  rooms: readonly ReportRoom[],
  request: ReportRequest,
  kind: ReportKind<Sums, Figures>,
  counter: RoomCounter<Sums, Figures>,
  turns: Turns,
): Promise<ReportRows<ReportPlace & Figures>> {
  const { groupBy, sortBy } = request
  const groups = new Map<number, Group<Sums>>()
  /** Adds the room to its group of that day, or of its place. */
  const joinGroup = (room: ReportRoom, day: number | undefined): Sums => {
    const { number, name, place } = groupOf(room, day, groupBy)
    const group = groups.get(number) ?? { place, name, number, sums: kind.empty(), rooms: 0 }
    groups.set(number, group)
    group.rooms++
    return group.sums
  }
  const arePlaces = groupBy === 'location' || groupBy === 'region'
  await counter.count(rooms, turns, ({ room, zone }, add) => {
    // A place has all its rooms, also those in whose time zone no second of the window counts.
    const ofPlace = arePlaces ? joinGroup(room, undefined) : undefined
    for (const part of zone.parts) add(room, part, ofPlace ?? joinGroup(room, part.day))
  })
  const entries = [...groups.values()].map((group) => ({ ...group, figure: kind.figure(group.sums, sortBy) }))
  const sorted = await sortInTurns(entries, orderOf(request), turns)
  return {
    count: sorted.length,
    async read(from, to) {
      return sorted
        .slice(from, to)
        .map(({ place, sums, rooms: count }) => ({ ...place, rooms: count, ...kind.figures(sums, groupBy) }))
    },
  }
}

/** No id is 0, which stands for rooms without a place. */
function groupOf({ location, region }: ReportRoom, day: number | undefined, groupBy: ReportGroup) {
  if (day !== undefined) return { number: day, name: '', place: { day: dateOf(day) } }
  if (groupBy === 'region') return { number: region?.id ?? 0, name: region?.name, place: { ...(region && { region }) } }
  const place = { ...(location && { location }), ...(region && { region }) }
  return { number: location?.id ?? 0, name: location?.name, place }
}

const collator = new Intl.Collator('en', { numeric: true })

function orderOf({ sortBy, isDescending }: ReportRequest): (a: Unsorted, b: Unsorted) => number {
  const sign = isDescending ? -1 : 1
  const byName = (a: Unsorted, b: Unsorted, direction: number) =>
    lastIfAbsent(a.name, b.name, (x, y) => direction * collator.compare(x, y)) || direction * (a.number - b.number)
  if (sortBy === 'name') return (a, b) => byName(a, b, sign)
  return (a, b) => lastIfAbsent(a.figure, b.figure, (x, y) => sign * (x - y)) || byName(a, b, 1)
}

function lastIfAbsent<T>(a: T | undefined, b: T | undefined, compare: (a: T, b: T) => number): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
  return compare(a, b)
}

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

async function roomRows<Sums, Figures extends object>(
  rooms: readonly ReportRoom[],
  request: ReportRequest,
  kind: ReportKind<Sums, Figures>,
  counter: RoomCounter<Sums, Figures>,
  turns: Turns,
): Promise<ReportRows<ReportPlace & Figures>> {
  const figures = new Map<number, number | undefined>()
  const { sortBy } = request
  if (sortBy !== 'name') {
    await counter.ofRooms(rooms, turns, (room, sums) => figures.set(room.id, kind.figure(sums, sortBy)))
  }
  const entries = rooms.map(
    (room): RoomEntry => ({ room, name: room.name, number: room.id, figure: figures.get(room.id) }),
  )
  const sorted = await sortInTurns(entries, orderOf(request), turns)
  return {
    count: sorted.length,
    // The sums of all rooms would take much memory, so those of a page are made again.
    async read(from, to, pageTurns) {
      const rows: (ReportPlace & Figures)[] = []
      const page = sorted.slice(from, to).map(({ room }) => room)
      await counter.ofRooms(page, pageTurns, (room, sums) => {
        rows.push({ ...placeOfRoom(room), ...kind.figures(sums, 'room') })
      })
      return rows
    },
  }
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
  await counter.count(rooms, turns, ({ room, zone }, add) => {
    for (const part of zone.parts) {
      const { number, name, place } = groupOf(room, part.day, groupBy)
      const group = groups.get(number) ?? { place, name, number, sums: kind.empty(), rooms: 0 }
      groups.set(number, group)
      group.rooms++
      add(room, part, group.sums)
    }
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

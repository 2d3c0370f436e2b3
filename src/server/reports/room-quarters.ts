// The stored quarters of some rooms, as reports count them.
import type { QuarterPeople } from '../../insight/use.ts'
import type { RoomDaySensor } from '../db/schema/schema.ts'
import {
  decodeInto,
  isPresenceMark,
  notMeasured,
  peopleHundredths,
  quartersPerDay,
} from '../sensors/rollups/quarter-values.ts'
import type { CountedRoom } from './report-kind.ts'

type DayRow = { readonly room: number; readonly day: number } & Partial<Record<RoomDaySensor, Buffer | null>>

export class RoomQuarters {
  /** The rows that are needed. The last day is included. */
  readonly range: { readonly rooms: readonly number[]; readonly first: number; readonly last: number }
  readonly #sensors: readonly RoomDaySensor[]
  readonly #values = new Map<string, Int32Array>()

  constructor(rooms: readonly CountedRoom[], sensors: readonly RoomDaySensor[]) {
    const counted = rooms.filter(({ zone }) => zone.lastDay >= zone.firstDay)
    const ends = counted.flatMap(({ zone }) => [zone.firstDay, zone.lastDay])
    this.range = {
      rooms: counted.map(({ room }) => room.id),
      first: ends.length > 0 ? Math.min(...ends) : 0,
      last: ends.length > 0 ? Math.max(...ends) : -1,
    }
    this.#sensors = sensors
  }

  add(row: DayRow): void {
    const { first, last } = this.range
    for (const sensor of this.#sensors) {
      const bytes = row[sensor]
      if (!bytes) continue
      const key = `${row.room} ${sensor}`
      let values = this.#values.get(key)
      if (!values) {
        values = new Int32Array((last - first + 1) * quartersPerDay).fill(notMeasured)
        this.#values.set(key, values)
      }
      decodeInto(values, (row.day - first) * quartersPerDay, bytes, sensor)
    }
  }

  /** The quarter since 1970 with which all lists begin. */
  get start(): number {
    return this.range.first * quartersPerDay
  }

  /** The values of a room, in the unit in which they are stored; undefined if there are none. */
  listOf(room: number, sensor: RoomDaySensor): Int32Array | undefined {
    return this.#values.get(`${room} ${sensor}`)
  }

  peopleOf(room: number): (quarter: number) => QuarterPeople | undefined {
    const values = this.listOf(room, 'people')
    if (!values) return () => undefined
    const { start } = this
    return (quarter) => {
      const packed = values[quarter - start] as number
      if (packed === notMeasured) return undefined
      return { hundredths: peopleHundredths(packed), isPresence: isPresenceMark(packed) }
    }
  }
}

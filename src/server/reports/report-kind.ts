// The interface of a report: which figures it makes of which rows of the database.
import type { OperationId } from '../../contract/operations.ts'
import type { ReportGroup } from '../../contract/reports/report-query.ts'
import type { CountedPart, CountedZone } from './counted-zones.ts'
import type { ReportRoom } from './report-rooms.ts'
import type { Turns } from './turns.ts'

/** A room with the quarters that count in its time zone. */
export interface CountedRoom {
  readonly room: ReportRoom
  readonly zone: CountedZone
}

/** Adds a part of the window of a room to the sums of a row. */
export type AddRoom<Sums> = (room: ReportRoom, part: CountedPart, sums: Sums) => void

export interface ReportKind<Sums, Figures extends object> {
  readonly id: OperationId
  /** The keys of the answer before its rows, in addition to the window. */
  readonly head?: (rooms: readonly ReportRoom[], turns: Turns) => Promise<object>
  readonly empty: () => Sums
  /** How many rooms are read and counted in one step, which should take a millisecond or two. */
  readonly roomsAtOnce: (days: number) => number
  /** Reads what the figures of rooms are made of. */
  readonly read: (rooms: readonly CountedRoom[], turns: Turns) => Promise<AddRoom<Sums>>
  /** The figure by which rows are sorted; undefined if nothing was measured. */
  readonly figure: (sums: Sums, name: string) => number | undefined
  readonly figures: (sums: Sums, group: ReportGroup) => Figures
  /** Rooms that are sorted by a figure are ranked by this one, the largest first. */
  readonly rankedBy?: string
}

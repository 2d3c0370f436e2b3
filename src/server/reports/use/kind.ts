// The report of how rooms are used, made of the rollups of rooms. [contract 16.use]
import type { Static, TObject } from 'typebox'
import type { ReportGroup, reportPlace } from '../../../contract/reports/report-query.ts'
import type { UseFigureName, UseRow } from '../../../contract/reports/use.ts'
import { addUse, noUse, type UseFigures, type UseSums, useFigures } from '../../../insight/use.ts'
import type { OrgReader } from '../../db/handles.ts'
import { listPeopleDays } from '../quarters-store.ts'
import type { ReportKind } from '../report-kind.ts'
import { RoomQuarters } from '../room-quarters.ts'

/** Sums of a row, and what is said of its rooms one by one. */
interface Sums extends UseSums {
  longestUnusedQuarters: number
  tooSmallRooms: number
  tooLargeRooms: number
}

type Row = Omit<UseRow, keyof Static<TObject<typeof reportPlace>>>

/** Rows of days that one statement reads. */
const daysPerStatement = 250

export const useReport = (db: OrgReader): ReportKind<Sums, Row> => ({
  id: 'reportsUse',
  empty: () => ({ ...noUse(), longestUnusedQuarters: 0, tooSmallRooms: 0, tooLargeRooms: 0 }),
  roomsAtOnce: (days) => Math.max(1, Math.floor(daysPerStatement / (days + 1))),
  async read(rooms) {
    const quarters = new RoomQuarters(rooms, ['people'])
    for (const row of await listPeopleDays(db, quarters.range)) quarters.add(row)
    return (room, part, sums) => {
      const people = quarters.peopleOf(room.id)
      const ofRoom = addUse(sums, part.quarters, people, room.capacity)
      sums.longestUnusedQuarters = Math.max(sums.longestUnusedQuarters, ofRoom.longestUnusedQuarters)
      if (ofRoom.isTooSmall) sums.tooSmallRooms++
      if (ofRoom.isTooLarge) sums.tooLargeRooms++
    }
  },
  figure: (sums, name) =>
    name === 'longestUnusedQuarters'
      ? unusedOf(sums)
      : useFigures(sums)[name as Exclude<UseFigureName, 'longestUnusedQuarters'>],
  figures: rowOf,
})

/** Absent if nothing was measured. */
const unusedOf = ({ measuredQuarters, longestUnusedQuarters }: Sums): number | undefined =>
  measuredQuarters === 0 ? undefined : longestUnusedQuarters

function rowOf(sums: Sums, group: ReportGroup): Row {
  const { countedQuarters, measuredQuarters, usedQuarters, tooSmallRooms, tooLargeRooms } = sums
  const longestUnusedQuarters = unusedOf(sums)
  return {
    countedQuarters,
    measuredQuarters,
    usedQuarters,
    ...rounded(useFigures(sums)),
    ...(group === 'room' && {
      ...(longestUnusedQuarters !== undefined && { longestUnusedQuarters }),
      ...(tooSmallRooms > 0 && { tooSmall: true }),
      ...(tooLargeRooms > 0 && { tooLarge: true }),
    }),
    ...((group === 'location' || group === 'region') && { tooSmallRooms, tooLargeRooms }),
    ...(group !== 'day' && { week: { measured: [...sums.measuredByHour], used: [...sums.usedByHour] } }),
  }
}

/** Shares have four decimals, numbers of people two, and seats none. */
const decimals: Readonly<Record<keyof UseFigures, number>> = {
  coverage: 4,
  use: 4,
  peak: 2,
  meanWhenUsed: 2,
  personQuarters: 2,
  seatQuarters: 0,
  seatUse: 4,
}

function rounded(figures: UseFigures): Partial<Record<keyof UseFigures, number>> {
  const entries = (Object.keys(decimals) as (keyof UseFigures)[]).flatMap((name) => {
    const value = figures[name]
    return value === undefined ? [] : [[name, Number(value.toFixed(decimals[name]))] as const]
  })
  return Object.fromEntries(entries)
}

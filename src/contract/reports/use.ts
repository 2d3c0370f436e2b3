// The report of how rooms are used. [contract 16.use]
import Type, { type Static } from 'typebox'
import { csvList } from '../csv-list.ts'
import { operation } from '../operation.ts'
import { Int32, Shape } from '../shape.ts'
import {
  exampleReportHead,
  exampleReportPlace,
  exampleReportQuery,
  reportAnswer,
  reportPlace,
  reportQuery,
} from './report-query.ts'

export const useFigureNames = ['coverage', 'use', 'peak', 'meanWhenUsed', 'seatUse', 'longestUnusedQuarters'] as const
export type UseFigureName = (typeof useFigureNames)[number]

const hoursOfWeek = (which: string) =>
  Type.Array(Type.Integer({ minimum: 0 }), {
    description: `${which} quarters by hour of the week: 168 numbers, of which the first is Monday from 00:00 to 01:00.`,
  })

export const UseRow = Shape('ReportUseRow', {
  ...reportPlace,
  countedQuarters: Int32('Quarters of an hour in the window that count.'),
  measuredQuarters: Int32('Counted quarters in which people were measured.'),
  usedQuarters: Int32('Measured quarters in which the room was used.'),
  coverage: Type.Optional(Type.Number({ description: 'Measured part of the counted quarters, 0 to 1.' })),
  use: Type.Optional(
    Type.Number({ description: 'Used part of the measured quarters, 0 to 1; absent if nothing was measured.' }),
  ),
  peak: Type.Optional(
    Type.Number({ description: 'The most people in a quarter; absent if no device counted people.' }),
  ),
  meanWhenUsed: Type.Optional(
    Type.Number({ description: 'Mean of the people in used quarters; absent if no device counted people in one.' }),
  ),
  seatUse: Type.Optional(
    Type.Number({
      description: 'Mean of the people in used quarters, divided by the capacity; absent without a capacity.',
    }),
  ),
  personQuarters: Type.Optional(
    Type.Number({
      description:
        'People of the used quarters in which people were counted, added up; absent without a capacity. `seatUse` of several rows is the sum of these divided by the sum of `seatQuarters`.',
    }),
  ),
  seatQuarters: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Seats in these quarters, added up; absent without a capacity.' }),
  ),
  longestUnusedQuarters: Type.Optional(
    Int32('The most quarters in a row that were measured and not used; only in rows of rooms.'),
  ),
  tooSmall: Type.Optional(
    Type.Boolean({
      description: 'True if more people than the capacity were in the room often enough; otherwise absent.',
    }),
  ),
  tooLarge: Type.Optional(
    Type.Boolean({ description: 'True if at most a third of the capacity was used nearly always; otherwise absent.' }),
  ),
  tooSmallRooms: Type.Optional(Int32('How many rooms are too small; only in groups of places.')),
  tooLargeRooms: Type.Optional(Int32('How many rooms are too large; only in groups of places.')),
  week: Type.Optional(
    Shape(
      'ReportUseWeek',
      { measured: hoursOfWeek('Measured'), used: hoursOfWeek('Used') },
      { description: 'Absent in groups by day.' },
    ),
  ),
})
export type UseRow = Static<typeof UseRow>

const exampleWeek = (count: number) =>
  Array.from({ length: 168 }, (_, hour) => (hour < 120 && hour % 24 >= 8 && hour % 24 < 18 ? count : 0))

export const useOperations = {
  reportsUse: operation({
    method: 'GET',
    path: '/reports/use',
    tag: 'Reports',
    scope: 'read',
    summary: 'Report how rooms were used',
    description:
      'Counts quarters of an hour by the method of docs/insight.md. What was not measured is absent, never 0. Deleted rooms are included if they were there in the window.',
    query: reportQuery(useFigureNames),
    response: reportAnswer('ReportUse', UseRow),
    csv: true,
    csvList: csvList('use', 'rows', UseRow),
    example: {
      query: { ...exampleReportQuery, sort: '-use' },
      response: {
        ...exampleReportHead,
        rows: [
          {
            ...exampleReportPlace,
            ...{ countedQuarters: 880, measuredQuarters: 800, usedQuarters: 400, coverage: 0.9091, use: 0.5 },
            ...{
              peak: 6,
              meanWhenUsed: 2.5,
              personQuarters: 1000,
              seatQuarters: 3200,
              seatUse: 0.3125,
              longestUnusedQuarters: 38,
            },
            week: { measured: exampleWeek(16), used: exampleWeek(8) },
          },
        ],
        nextPageToken: '',
      },
    },
  }),
}

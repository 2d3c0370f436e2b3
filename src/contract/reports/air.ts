// The report of the air of rooms. [contract 16.air]
import Type, { type Static, type TObject } from 'typebox'
import { csvList } from '../csv-list.ts'
import { AirLimit, defaultAirLimits } from '../journal/orgs.ts'
import { operation } from '../operation.ts'
import { Int32, OneOf, Shape } from '../shape.ts'
import {
  exampleReportHead,
  exampleReportPlace,
  exampleReportQuery,
  reportAnswer,
  reportPlace,
  reportQuery,
} from './report-query.ts'

/** The sensors that have limits. */
export const airFields = ['co2', 'voc', 'temp', 'humidity'] as const
export type AirField = (typeof airFields)[number]

const figures = {
  measuredQuarters: Int32('Counted quarters of the basis in which it was measured.'),
  outsideQuarters: Int32('Measured quarters in which it was outside of its limits.'),
  outsideShare: Type.Optional(
    Type.Number({
      description: 'Part of the measured quarters that were outside, 0 to 1; absent if nothing was measured.',
    }),
  ),
}

const ofFields = <S extends TObject>(shape: S) =>
  Object.fromEntries(airFields.map((field) => [field, Type.Optional(shape)])) as Record<
    AirField,
    ReturnType<typeof Type.Optional<S>>
  >

export const AirRow = Shape('ReportAirRow', {
  ...reportPlace,
  countedQuarters: Int32('Quarters of an hour in the window that count.'),
  basis: Type.Optional(
    OneOf(
      ['used', 'measured'],
      'used: quarters count in which the room was used. measured: all measured quarters count, because no device counts people in the room. Absent in groups that have both.',
    ),
  ),
  ...figures,
  worstDay: Type.Optional(
    Type.String({
      format: 'date',
      description: 'The day with the largest part outside, of equal ones the first; absent if nothing was outside.',
    }),
  ),
  worstHour: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 23,
      description: 'The hour of the day with the largest part outside; absent if nothing was outside.',
    }),
  ),
  rank: Type.Optional(
    Int32(
      'Rank of the room by its part outside, 1 for the worst; equal ones have the same. Only in rows of rooms that are sorted by a figure.',
    ),
  ),
  ...ofFields(Shape('ReportAirField', figures)),
})
export type AirRow = Static<typeof AirRow>

export const airLimitsOfReport = Shape('ReportAirLimits', ofFields(AirLimit), {
  description: 'Limits of the fields that are counted.',
})

const query = reportQuery(['outsideShare', ...airFields])

export const airOperations = {
  reportsAir: operation({
    method: 'GET',
    path: '/reports/air',
    tag: 'Reports',
    scope: 'read',
    summary: 'Report for how long the air of rooms was outside of its limits',
    description:
      'Counts quarters of an hour by the method of docs/insight.md, with the limits of the organisation of today. A quarter is outside if one of its fields is. A value that was not measured is absent, never 0.',
    query: {
      ...query,
      fields: Type.String({
        description: `Only these sensors, separated by commas: ${airFields.join(', ')}. Default: all that have limits.`,
      }),
    },
    response: reportAnswer('ReportAir', AirRow, {
      limits: airLimitsOfReport,
    }),
    csv: true,
    csvList: csvList('air', 'rows', AirRow),
    example: {
      query: { ...exampleReportQuery, sort: '-outsideShare', fields: 'co2' },
      response: {
        ...exampleReportHead,
        limits: { co2: defaultAirLimits.co2 },
        rows: [
          {
            ...exampleReportPlace,
            ...{ countedQuarters: 880, basis: 'used', measuredQuarters: 400, outsideQuarters: 50, outsideShare: 0.125 },
            ...{ worstDay: '2026-10-14', worstHour: 15, rank: 1 },
            co2: { measuredQuarters: 400, outsideQuarters: 50, outsideShare: 0.125 },
          },
        ],
        nextPageToken: '',
      },
    },
  }),
}

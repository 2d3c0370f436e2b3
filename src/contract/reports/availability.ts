// The report of how available rooms were. [contract 16.availability]
import Type, { type Static } from 'typebox'
import { csvList } from '../csv-list.ts'
import { AvailabilityTarget, IgnoreUnderMinutes } from '../journal/orgs.ts'
import { operation } from '../operation.ts'
import { Int32, OneOf, Shape, Timestamp } from '../shape.ts'
import {
  exampleIncidentsFrom,
  exampleReportHead,
  exampleReportPlace,
  exampleReportQuery,
  IncidentsFrom,
  reportAnswer,
  reportPlace,
  reportQuery,
} from './report-query.ts'

/** The classes of the seconds of a room. A second has the first that holds. */
export const availabilityClasses = [
  'notKnown',
  'silenced',
  'changeWindow',
  'up',
  'service',
  'unknown',
  'asleep',
  'short',
  'charged',
] as const

/** The periods of a room that an answer has at most. */
export const maxReportPeriods = 5000

const seconds = (what: string) => Type.Integer({ minimum: 0, description: `Seconds ${what}.` })

/** The classes of a row add up to its counted seconds. */
const secondsByClass = {
  notKnownSeconds: seconds(
    'about which nothing is known: future, older than the connection history, or without a device',
  ),
  silencedSeconds: seconds('in which `device.offline` was silenced'),
  changeWindowSeconds: seconds('in the change window of the location'),
  upSeconds: seconds('in which a main device was connected'),
  serviceSeconds: seconds('after the end of a server, in which the devices had time to come back'),
  unknownSeconds: seconds('in which a gateway or a source was away'),
  asleepSeconds: seconds('in which a main device was asleep'),
  shortSeconds: seconds('without a connection for less than `ignoreUnderMinutes`'),
  chargedSeconds: seconds('that count against the room'),
}

export const availabilityFigureNames = [
  'availability',
  'outages',
  'longestOutageSeconds',
  'impairedSeconds',
  'notKnownSeconds',
  'silencedSeconds',
  'changeWindowSeconds',
  'upSeconds',
  'serviceSeconds',
  'unknownSeconds',
  'asleepSeconds',
  'shortSeconds',
  'chargedSeconds',
] as const
export type AvailabilityFigureName = (typeof availabilityFigureNames)[number]

export const AvailabilityRow = Shape('ReportAvailabilityRow', {
  ...reportPlace,
  countedSeconds: seconds('of the window that count: the sum of all classes'),
  ...secondsByClass,
  availability: Type.Optional(
    Type.Number({
      description:
        '1 - charged / (up + short + charged), 0 to 1 with six decimal places; absent if these classes have no seconds.',
    }),
  ),
  isTargetMet: Type.Optional(
    Type.Boolean({
      description: 'Whether the availability reaches `availabilityTarget`; absent without an availability.',
    }),
  ),
  roomsBelowTarget: Type.Optional(Int32('How many rooms did not reach the target; only in groups of places.')),
  outages: Int32('Times without a connection of which at least a second is charged.'),
  longestOutageSeconds: seconds('of the longest of them that are charged'),
  impairedSeconds: seconds('that are up while an incident of WARNING or worse about a device of the room was open'),
})
export type AvailabilityRow = Static<typeof AvailabilityRow>

export const AvailabilityPeriod = Shape('ReportAvailabilityPeriod', {
  from: Timestamp('Start of the period.'),
  to: Timestamp('End of the period.'),
  class: OneOf(availabilityClasses, 'The class of its seconds.'),
  seconds: seconds('of the period'),
  isImpaired: Type.Optional(Type.Boolean({ description: 'True if its seconds are impaired; otherwise absent.' })),
  gapFrom: Type.Optional(
    Timestamp('Start of the whole time without a connection that the period is a part of; absent while connected.'),
  ),
  gapTo: Type.Optional(Timestamp('End of that time, or the present while it lasts.')),
})
export type AvailabilityPeriod = Static<typeof AvailabilityPeriod>

export const availabilityHead = {
  availabilityTarget: AvailabilityTarget,
  ignoreUnderMinutes: IgnoreUnderMinutes,
  exclude: Type.String({ description: 'The classes that are not charged, separated by commas.' }),
  connectionsFrom: Timestamp('Connections are kept from this time on; earlier seconds are not known.'),
  incidentsFrom: IncidentsFrom,
}

const exampleRow = {
  ...exampleReportPlace,
  countedSeconds: 792_000,
  ...{ notKnownSeconds: 0, silencedSeconds: 3600, changeWindowSeconds: 0, upSeconds: 782_280, serviceSeconds: 180 },
  ...{ unknownSeconds: 0, asleepSeconds: 0, shortSeconds: 240, chargedSeconds: 5700 },
  availability: 0.992769,
  isTargetMet: false,
  ...{ outages: 4, longestOutageSeconds: 2400, impairedSeconds: 900 },
}

export const availabilityOperations = {
  reportsAvailability: operation({
    method: 'GET',
    path: '/reports/availability',
    tag: 'Reports',
    scope: 'read',
    summary: 'Report how available rooms were',
    description:
      'Puts each counted second of a room into one class by the method of docs/insight.md. Every row has all classes, and they add up to its counted seconds.',
    query: {
      ...reportQuery(availabilityFigureNames),
      ignoreUnderMinutes: Type.Integer({
        minimum: 0,
        maximum: 1440,
        description:
          'A time without a connection of less than so many minutes is short. Default: that of the organisation.',
      }),
      exclude: Type.String({
        description:
          'The classes that are not charged, separated by commas: silenced, changeWindow, service, unknown, asleep, short, or `none`. Default: all of them. A second of a class that is not listed is in the next class that holds.',
      }),
      periods: Type.Boolean({
        description:
          'Whether the answer has the periods that the figures of the room consist of. Needs `roomId`, and groups by room.',
      }),
    },
    response: reportAnswer('ReportAvailability', AvailabilityRow, {
      ...availabilityHead,
      periods: Type.Optional(
        Type.Array(AvailabilityPeriod, {
          description: `The periods of the room in order, with all counted seconds; at most ${maxReportPeriods}.`,
        }),
      ),
      omittedPeriods: Type.Optional(
        Int32('How many further periods there are. Ask for a shorter window to see them; absent if there are none.'),
      ),
    }),
    csv: true,
    csvList: csvList('availability', 'rows', AvailabilityRow),
    example: {
      query: { ...exampleReportQuery, sort: 'availability' },
      response: {
        ...exampleReportHead,
        ...{ availabilityTarget: 99.5, ignoreUnderMinutes: 5 },
        exclude: 'silenced,changeWindow,service,unknown,asleep,short',
        connectionsFrom: '2024-11-01T00:00:00.000Z',
        incidentsFrom: exampleIncidentsFrom,
        rows: [exampleRow],
        nextPageToken: '',
      },
    },
  }),
}

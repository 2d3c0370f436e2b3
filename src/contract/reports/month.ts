// The report of a month, with the month before. [contract 16.month]
import Type, { type TProperties } from 'typebox'
import { AvailabilityTarget } from '../journal/orgs.ts'
import { operation } from '../operation.ts'
import { Int32, Shape } from '../shape.ts'
import { AirRow, airLimitsOfReport } from './air.ts'
import { AvailabilityRow } from './availability.ts'
import { exampleIncidentFigures, IncidentFigures } from './incidents.ts'
import {
  exampleIncidentsFrom,
  exampleReportHead,
  IncidentsFrom,
  reportHead,
  reportPlace,
  reportQuery,
} from './report-query.ts'
import { UseRow } from './use.ts'

const { hours, days, roomId, regionId, locationId, tag, field } = reportQuery([])

/** The figures of a row, without what the row is about. */
function figuresOf<P extends TProperties>(properties: P): Omit<P, keyof typeof reportPlace> {
  const entries = Object.entries(properties).filter(([name]) => !Object.hasOwn(reportPlace, name))
  return Object.fromEntries(entries) as Omit<P, keyof typeof reportPlace>
}

const rooms = Int32('How many rooms the figures are about.')

const twoMonths = <P extends TProperties>(name: string, properties: P) => {
  const figures = Shape(`ReportMonth${name}Figures`, { rooms, ...figuresOf(properties) })
  return Shape(`ReportMonth${name}`, { month: figures, before: figures })
}

export const ReportMonth = Shape('ReportMonth', {
  month: Type.String({ description: 'The month of the request.' }),
  before: Type.String({ description: 'The month before.' }),
  ...reportHead,
  incidentsFrom: IncidentsFrom,
  availabilityTarget: AvailabilityTarget,
  limits: airLimitsOfReport,
  use: twoMonths('Use', UseRow.properties),
  availability: twoMonths('Availability', AvailabilityRow.properties),
  air: twoMonths('Air', AirRow.properties),
  incidents: Shape('ReportMonthIncidents', { month: IncidentFigures, before: IncidentFigures }),
})

const exampleUse = { rooms: 40, countedQuarters: 35_200, measuredQuarters: 0, usedQuarters: 0, coverage: 0 }
const emptyWeek = { measured: Array.from({ length: 168 }, () => 0), used: Array.from({ length: 168 }, () => 0) }
const use = { ...exampleUse, tooSmallRooms: 0, tooLargeRooms: 0, week: emptyWeek }
const availability = {
  ...{ rooms: 40, countedSeconds: 31_680_000, notKnownSeconds: 0, silencedSeconds: 0, changeWindowSeconds: 0 },
  ...{ upSeconds: 31_679_000, serviceSeconds: 0, unknownSeconds: 0, asleepSeconds: 0, shortSeconds: 0 },
  ...{ chargedSeconds: 1000, availability: 0.999968, isTargetMet: true, roomsBelowTarget: 0 },
  ...{ outages: 1, longestOutageSeconds: 1000, impairedSeconds: 0 },
}
const air = { rooms: 40, countedQuarters: 35_200, measuredQuarters: 0, outsideQuarters: 0 }

export const monthOperations = {
  reportsMonth: operation({
    method: 'GET',
    path: '/reports/month',
    tag: 'Reports',
    scope: 'read',
    summary: 'Report a month, with the month before',
    description:
      'The figures of all rooms together: those of reportsUse, reportsAvailability and reportsAir, as in a group of places, and the counts of reportsIncidents.',
    query: {
      month: Type.String({
        required: true,
        description: 'The month, such as 2026-10. It begins and ends at midnight of each location.',
      }) as ReturnType<typeof Type.String> & { required: true },
      ...{ hours, days, roomId, regionId, locationId, tag, field },
    },
    response: ReportMonth,
    example: {
      query: { month: '2026-10' },
      response: {
        month: '2026-10',
        before: '2026-09',
        ...exampleReportHead,
        incidentsFrom: exampleIncidentsFrom,
        availabilityTarget: 99.5,
        limits: {},
        use: { month: use, before: use },
        availability: { month: availability, before: availability },
        air: { month: air, before: air },
        incidents: { month: exampleIncidentFigures, before: exampleIncidentFigures },
      },
    },
  }),
}

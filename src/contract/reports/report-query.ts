// The query of all reports, and the part of their rows and answers that is the same: window, rooms, groups, order, pages. [contract 16.query]
import Type, { type TProperties } from 'typebox'
import { CustomFieldFilters } from '../fleet/custom-fields.ts'
import { Bom, IdAndName, Int32, OneOf, QueryTimeOrDay, RequiredQueryTimeOrDay, Shape, Timestamp } from '../shape.ts'

/** A year, and a day in which its clocks may change. */
export const maxReportDays = 366
/** Rooms times days of a report that is sorted by a figure or grouped. */
export const maxRoomDays = 400_000

export const [defaultReportPage, maxReportPage] = [100, 1000] as const

export const reportGroups = ['room', 'location', 'region', 'day', 'week'] as const
export type ReportGroup = (typeof reportGroups)[number]

/** Hours if neither the request nor the organisation names some. */
export const defaultReportHours = { from: '08:00', to: '18:00', days: ['mon', 'tue', 'wed', 'thu', 'fri'] } as const

/** Each figure sorts upwards, and with a minus sign downwards. */
type Sorted<F extends string> = 'name' | '-name' | F | `-${F}`
const sortOf = <const F extends string>(figures: readonly F[]) =>
  OneOf(
    ['name', ...figures].flatMap((name) => [name, `-${name}`]) as Sorted<F>[],
    'Order of the rows; a minus sign reverses it. Default: name, which is the day for groups of time. Rows without the figure come last.',
  )

/** The query of a report whose rows can be sorted by these figures. */
export const reportQuery = <const F extends string>(figures: readonly F[]) => ({
  from: RequiredQueryTimeOrDay('Start of the window, inclusive. A date alone is midnight of each location.'),
  to: QueryTimeOrDay(
    `End of the window, exclusive; default now. A date alone is midnight of each location. The window has at most ${maxReportDays} days.`,
  ),
  hours: Type.String({
    description:
      'The hours of a day that count, in whole quarters of an hour: 08:00-18:00, or 22:00-06:00, which end on the next day, or `always`. Default: the working hours of the organisation, or else 08:00-18:00.',
  }),
  days: Type.String({
    description:
      'The days on which the hours begin, separated by commas: mon,tue,wed. Default: the days of the working hours of the organisation, or else Monday to Friday; with the hours `always`, all days.',
  }),
  roomId: Int32('Only this room.'),
  regionId: Int32('Only rooms in this region.'),
  locationId: Int32('Only rooms in this location.'),
  tag: Type.String({ description: 'Only rooms with this tag.' }),
  field: CustomFieldFilters,
  groupBy: OneOf(reportGroups, 'Subject of a row; default room. A week begins on Monday.'),
  sort: sortOf(figures),
  pageSize: Int32(
    `Rows per page: 0 or absent means ${defaultReportPage}, more than ${maxReportPage} means ${maxReportPage}.`,
  ),
  pageToken: Type.String({
    description: 'The `nextPageToken` of the page before; only with the same query. `pageSize` may change.',
  }),
  bom: Bom,
})

/** Every row of a report says what it is about. */
export const reportPlace = {
  room: Type.Optional(IdAndName('ReportRoom', 'room')),
  deletedAt: Type.Optional(
    Timestamp('Time at which the room was deleted; absent if it was not. Its place is the last one it had.'),
  ),
  location: Type.Optional(IdAndName('ReportLocation', 'location')),
  region: Type.Optional(IdAndName('ReportRegion', 'region')),
  day: Type.Optional(
    Type.String({
      format: 'date',
      description: 'The day of a row, or the Monday of its week; only in groups of time.',
    }),
  ),
  timezone: Type.Optional(Type.String({ description: 'Time zone of the room; only in rows of rooms.' })),
  capacity: Type.Optional(Type.Integer({ description: 'Capacity of the room; absent if not set, and in groups.' })),
  tags: Type.Optional(Type.Array(Type.String(), { description: 'Tags of the room; absent if it has none.' })),
  rooms: Type.Optional(Int32('How many rooms the row is about; only in groups.')),
}

/** The keys of an answer before its rows. */
export const reportHead = {
  from: Timestamp('Start of the window, in the time zone of the organisation if the request has a date.'),
  to: Timestamp('End of the window, in the time zone of the organisation if the request has a date.'),
  hours: Type.String({ description: 'The hours that count, such as 08:00-18:00, or `always`.' }),
  days: Type.String({ description: 'The days on which the hours begin, separated by commas.' }),
  quartersFrom: Timestamp('Quarters of an hour of rooms are stored from this time on.'),
  pastFrom: Type.Optional(
    Timestamp(
      'Deleted rooms, former change windows and silences that people ended are known from this time on; absent if they always were.',
    ),
  ),
}

export const IncidentsFrom = Timestamp(
  'Incidents are kept from this time on: those that opened earlier may be missing.',
)

export const reportAnswer = <R extends ReturnType<typeof Shape>, const P extends TProperties = Record<never, never>>(
  title: string,
  row: R,
  more: P = {} as P,
) =>
  Shape(title, {
    ...reportHead,
    ...more,
    rows: Type.Array(row),
    nextPageToken: Type.String({ description: 'Token of the next page; empty on the last page.' }),
  })

export const exampleReportQuery = { from: '2026-10-01', to: '2026-11-01' }
export const exampleReportHead = {
  from: '2026-09-30T22:00:00.000Z',
  to: '2026-10-31T23:00:00.000Z',
  hours: '08:00-18:00',
  days: 'mon,tue,wed,thu,fri',
  quartersFrom: '2025-10-30T00:00:00.000Z',
}
export const exampleIncidentsFrom = '2025-10-01T00:00:00.000Z'
export const exampleReportPlace = {
  room: { id: 7, name: 'Fjord' },
  location: { id: 3, name: 'Oslo HQ' },
  region: { id: 11, name: 'Europe' },
  timezone: 'Europe/Oslo',
  capacity: 8,
}

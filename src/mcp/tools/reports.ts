// Tools on reports: how rooms were used, and what follows from it. [contract 16.query]
import Type from 'typebox'
import { dayMs } from '../../contract/durations.ts'
import { operations } from '../../contract/operations.ts'
import { CalendarDay } from '../../contract/shape.ts'
import { directTool } from '../tool.ts'
import { limitField, placeFields } from './fields.ts'

const windowFields = {
  days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 366, description: 'How many days to look back, if there is no `from`.' }),
  ),
  from: Type.Optional(CalendarDay('First day of the window, such as 2026-10-01.')),
  to: Type.Optional(CalendarDay('The day after the window; default now.')),
}

interface ReportWindow {
  readonly days: number | undefined
  readonly from: string | undefined
  readonly to: string | undefined
}

const windowOf = ({ days = 28, from, to }: ReportWindow, now: number) => ({
  from: from ?? new Date(now - days * dayMs).toISOString().slice(0, 10),
  ...(to !== undefined && { to }),
})

const { groupBy, sort, tag } = operations.reportsUse.query
const { sort: airSort, fields } = operations.reportsAir.query
const { sort: availabilitySort, exclude } = operations.reportsAvailability.query
const { sort: incidentSort, groupBy: incidentGroupBy, rule, severity } = operations.reportsIncidents.query

export const reportTools = [
  directTool({
    name: 'room_use',
    title: 'How rooms are used',
    description:
      'How much rooms were used in working hours, how many people were in them, and which are too small or too large. Sort by `use` for rooms that could be given up, by `-use` for the busiest. What was not measured is absent, never 0: look at `coverage`.',
    needs: 'read',
    input: Type.Object({
      ...windowFields,
      ...placeFields,
      tag: Type.Optional(tag),
      groupBy: Type.Optional(groupBy),
      sort: Type.Optional(sort),
      limit: limitField,
    }),
    async run({ client, now }, { days, from, to, limit = 50, ...query }) {
      const window = windowOf({ days, from, to }, now())
      const { rows, nextPageToken, ...head } = (await client.reportsUse({ ...query, ...window, pageSize: limit })).body
      // The table of hours of a row has 336 numbers.
      return { ...head, rows: rows.map(({ week: _, ...row }) => row), hasMore: nextPageToken !== '' }
    },
  }),
  directTool({
    name: 'room_air',
    title: 'Rooms with bad air',
    description:
      'For how long the air of rooms was outside of its limits while they were used, the worst first. For questions such as "which rooms had bad air this week?".',
    needs: 'read',
    input: Type.Object({
      ...windowFields,
      ...placeFields,
      tag: Type.Optional(tag),
      fields: Type.Optional(fields),
      groupBy: Type.Optional(groupBy),
      sort: Type.Optional(airSort),
      limit: limitField,
    }),
    async run({ client, now }, { days = 7, from, to, limit = 50, sort = '-outsideShare', ...query }) {
      const window = windowOf({ days, from, to }, now())
      const { body } = await client.reportsAir({ ...query, ...window, sort, pageSize: limit })
      const { nextPageToken, ...answer } = body
      return { ...answer, hasMore: nextPageToken !== '' }
    },
  }),
  directTool({
    name: 'room_availability',
    title: 'Availability of rooms',
    description:
      'Whether rooms kept their availability target: the share of time with a connected main device, the outages, and how many seconds were not charged and why. For questions such as "did Oslo keep its target in October?", with `groupBy` location.',
    needs: 'read',
    input: Type.Object({
      ...windowFields,
      ...placeFields,
      tag: Type.Optional(tag),
      exclude: Type.Optional(exclude),
      groupBy: Type.Optional(groupBy),
      sort: Type.Optional(availabilitySort),
      limit: limitField,
    }),
    async run({ client, now }, { days, from, to, limit = 50, sort = 'availability', ...query }) {
      const window = windowOf({ days, from, to }, now())
      const { body } = await client.reportsAvailability({ ...query, ...window, sort, pageSize: limit })
      const { nextPageToken, ...answer } = body
      return { ...answer, hasMore: nextPageToken !== '' }
    },
  }),
  directTool({
    name: 'incident_report',
    title: 'Incidents of a period',
    description:
      'How many incidents there were, how long until somebody acknowledged them and until they ended, and which devices and rooms have the same problem again and again. For questions such as "what breaks most often?", with `groupBy` rule, model or location.',
    needs: 'read',
    input: Type.Object({
      ...windowFields,
      ...placeFields,
      rule: Type.Optional(rule),
      severity: Type.Optional(severity),
      groupBy: Type.Optional(incidentGroupBy),
      sort: Type.Optional(incidentSort),
      limit: limitField,
    }),
    async run({ client, now }, { days, from, to, limit = 50, ...query }) {
      const window = windowOf({ days, from, to }, now())
      const { body } = await client.reportsIncidents({ ...query, ...window, pageSize: limit })
      const { nextPageToken, ...answer } = body
      return { ...answer, hasMore: nextPageToken !== '' }
    },
  }),
]

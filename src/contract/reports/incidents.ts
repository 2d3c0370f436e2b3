// The report of which incidents there were, and how long people and causes took. [contract 16.incidents]
import Type, { type Static } from 'typebox'
import { csvList } from '../csv-list.ts'
import { ruleIds, severities } from '../incidents/rule-table.ts'
import { operation } from '../operation.ts'
import { Bom, IdAndName, Int32, OneOf, QueryTimeOrDay, RequiredQueryTimeOrDay, Shape, Timestamp } from '../shape.ts'
import {
  defaultReportPage,
  exampleIncidentsFrom,
  IncidentsFrom,
  maxReportDays,
  maxReportPage,
  reportQuery,
} from './report-query.ts'

export const incidentReportGroups = ['rule', 'room', 'location', 'region', 'model'] as const
export type IncidentReportGroup = (typeof incidentReportGroups)[number]

/** So many incidents of one rule on one device or room make it a repeat offender. */
export const repeatsFrom = 3
export const maxRepeatOffenders = 100

const seconds = (what: string) =>
  Type.Optional(Type.Integer({ minimum: 0, description: `${what} Absent if there is none.` }))

const figures = {
  incidents: Int32('How many incidents opened, without those that became part of a larger one.'),
  open: Int32('How many of these are open now.'),
  acknowledged: Int32('How many of these a person acknowledged.'),
  acknowledgeMedianSeconds: seconds(
    'The time from opening to first acknowledgement within which half of these were acknowledged.',
  ),
  acknowledgeP90Seconds: seconds('The time within which 90 % of these were acknowledged.'),
  ended: Int32('How many of these have ended.'),
  endMedianSeconds: seconds('The time from opening to last end within which half of these ended.'),
  endP90Seconds: seconds('The time within which 90 % of these ended.'),
}
export const incidentFigureNames = [
  'incidents',
  'open',
  'acknowledged',
  'acknowledgeMedianSeconds',
  'acknowledgeP90Seconds',
  'ended',
  'endMedianSeconds',
  'endP90Seconds',
] as const
export type IncidentFigureName = (typeof incidentFigureNames)[number]

export const IncidentFigures = Shape('ReportIncidentFigures', figures)
export type IncidentFigures = Static<typeof IncidentFigures>

const rule = OneOf(ruleIds, 'The rule that opened the incidents.')
export const IncidentReportRow = Shape('ReportIncidentsRow', {
  rule: Type.Optional(rule),
  room: Type.Optional(IdAndName('ReportIncidentRoom', 'room')),
  location: Type.Optional(IdAndName('ReportIncidentLocation', 'location')),
  region: Type.Optional(IdAndName('ReportIncidentRegion', 'region')),
  model: Type.Optional(Type.String({ description: 'Code of the model of the devices.' })),
  ...figures,
})
export type IncidentReportRow = Static<typeof IncidentReportRow>

export const RepeatOffender = Shape('ReportRepeatOffender', {
  rule,
  endpoint: Type.Optional(
    Shape('ReportOffenderEndpoint', {
      id: Type.String({ description: 'Identifier of the endpoint.' }),
      name: Type.String({ description: 'Its name in its last incident.' }),
    }),
  ),
  room: Type.Optional(IdAndName('ReportOffenderRoom', 'room')),
  incidents: Int32('How many incidents of the rule it had.'),
  lastOpenedAt: Timestamp('Time at which the last of them opened.'),
})
export type RepeatOffender = Static<typeof RepeatOffender>

export const exampleIncidentFigures: IncidentFigures = {
  ...{ incidents: 12, open: 1, acknowledged: 9, acknowledgeMedianSeconds: 420, acknowledgeP90Seconds: 3600 },
  ...{ ended: 11, endMedianSeconds: 1500, endP90Seconds: 14_400 },
}

const { tag, field } = reportQuery([])

export const incidentReportOperations = {
  reportsIncidents: operation({
    method: 'GET',
    path: '/reports/incidents',
    tag: 'Reports',
    scope: 'read',
    summary: 'Report which incidents there were, and how long they took',
    description:
      'Counts the incidents that opened in the window, without those that became part of a larger one. An incident in several places, or of several models, is in the row of each.',
    query: {
      from: RequiredQueryTimeOrDay(
        'Start of the window, inclusive. A date alone is midnight in the time zone of the organisation.',
      ),
      to: QueryTimeOrDay(
        `End of the window, exclusive; default now. A date alone is midnight in the time zone of the organisation. The window has at most ${maxReportDays} days.`,
      ),
      rule: OneOf(ruleIds, 'Only incidents of this rule.'),
      severity: OneOf(severities, 'Only incidents of this severity.'),
      roomId: Int32('Only incidents of this room.'),
      regionId: Int32('Only incidents in this region.'),
      locationId: Int32('Only incidents in this location.'),
      tag,
      field,
      groupBy: OneOf(incidentReportGroups, 'Thing that a row is about; default rule.'),
      sort: OneOf(
        ['name', ...incidentFigureNames].flatMap((name) => [name, `-${name}`]) as (
          | 'name'
          | '-name'
          | IncidentFigureName
          | `-${IncidentFigureName}`
        )[],
        'Order of the rows; a minus sign reverses it. Default: -incidents. Rows without the figure come last.',
      ),
      pageSize: Int32(
        `Rows per page: 0 or absent means ${defaultReportPage}, more than ${maxReportPage} means ${maxReportPage}.`,
      ),
      pageToken: Type.String({
        description: 'The `nextPageToken` of the page before; only with the same query. `pageSize` may change.',
      }),
      bom: Bom,
    },
    response: Shape('ReportIncidents', {
      from: Timestamp('Start of the window.'),
      to: Timestamp('End of the window.'),
      incidentsFrom: IncidentsFrom,
      counts: IncidentFigures,
      repeatOffenders: Type.Array(RepeatOffender, {
        description: `Devices and rooms with at least ${repeatsFrom} incidents of one rule, most incidents first; at most ${maxRepeatOffenders}.`,
      }),
      rows: Type.Array(IncidentReportRow),
      nextPageToken: Type.String({ description: 'Token of the next page; empty on the last page.' }),
    }),
    csv: true,
    csvList: csvList('incident-report', 'rows', IncidentReportRow),
    example: {
      query: { from: '2026-10-01', to: '2026-11-01', groupBy: 'location' },
      response: {
        from: '2026-09-30T22:00:00.000Z',
        to: '2026-10-31T23:00:00.000Z',
        incidentsFrom: exampleIncidentsFrom,
        counts: exampleIncidentFigures,
        repeatOffenders: [
          {
            rule: 'device.offline',
            room: { id: 7, name: 'Fjord' },
            incidents: 4,
            lastOpenedAt: '2026-10-28T08:15:30.000Z',
          },
        ],
        rows: [{ location: { id: 3, name: 'Oslo HQ' }, ...exampleIncidentFigures }],
        nextPageToken: '',
      },
    },
  }),
}

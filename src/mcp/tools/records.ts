// Tools that show what happened: incidents, samples, changes by people, jobs.
import Type from 'typebox'
import { dayMs, hourMs } from '../../contract/durations.ts'
import { ruleIds, severities } from '../../contract/incidents/rule-table.ts'
import { operations } from '../../contract/operations.ts'
import { OneOf } from '../../contract/shape.ts'
import { directTool } from '../tool.ts'
import {
  contains,
  endpointIdField,
  incidentIdField,
  jobIdField,
  limitField,
  placeFields,
  roomIdField,
} from './fields.ts'
import { shownIncident } from './look.ts'

const days = (most: number, otherwise: number) =>
  Type.Optional(
    Type.Integer({ minimum: 1, maximum: most, description: `How many days to look back; default ${otherwise}.` }),
  )

const { interval, fields } = operations.roomsSensorHistory.query

export const recordTools = [
  directTool({
    name: 'list_incidents',
    title: 'Incidents',
    description:
      'Open incidents, or all of the last days: what is wrong, where, since when, and what to do about it. For questions such as "what needs attention in Oslo?".',
    needs: 'read',
    input: Type.Object({
      ...placeFields,
      roomId: Type.Optional(roomIdField),
      endpointId: Type.Optional(endpointIdField),
      severity: Type.Optional(OneOf(severities, 'Only incidents of this severity.')),
      rule: Type.Optional(OneOf(ruleIds, 'Only incidents of this rule.')),
      days: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 366,
          description: 'All incidents that opened in so many days, open or not; without it, open incidents.',
        }),
      ),
      limit: limitField,
    }),
    async run({ client, now }, { days, limit = 50, ...query }) {
      const window = days === undefined ? {} : { state: 'all' as const, from: now() - days * dayMs }
      const { incidents, nextPageToken } = (await client.incidentsList({ ...query, ...window, pageSize: limit })).body
      return {
        incidents: incidents.map((incident) => ({ ...shownIncident(incident), resolvedAt: incident.resolvedAt })),
        hasMore: nextPageToken !== '',
      }
    },
  }),
  directTool({
    name: 'get_incident',
    title: 'One incident',
    description: 'An incident with the devices and rooms that it affects, and its timeline.',
    needs: 'read',
    input: Type.Object({ incidentId: incidentIdField }),
    run: async ({ client }, { incidentId }) => (await client.incidentsGet({ id: incidentId })).body,
  }),
  directTool({
    name: 'room_history',
    title: 'Air and people of a room over time',
    description:
      'What the sensors of a room measured: smallest, largest and mean value of each hour or day. For questions such as "how was the air in Fjord yesterday?".',
    needs: 'read',
    input: Type.Object({
      roomId: roomIdField,
      days: days(366, 1),
      interval: Type.Optional({
        ...interval,
        enum: ['1h', '1d'] as const,
        description: 'Length of a bucket; default 1h for up to 7 days, else 1d.',
      } as typeof interval),
      fields: Type.Optional(fields),
    }),
    async run({ client, now }, { roomId: id, days = 1, interval = days <= 7 ? '1h' : '1d', fields }) {
      const from = now() - days * dayMs
      const query = { id, from, interval, pageSize: 1000, ...(fields !== undefined && { fields }) }
      return (await client.roomsSensorHistory(query)).body
    },
  }),
  directTool({
    name: 'list_changes',
    title: 'Who changed what',
    description:
      'The audit log of the last hours: who changed what, and from what to what. For questions such as "who moved this device?".',
    needs: 'read',
    input: Type.Object({
      hours: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 720, description: 'How many hours to look back; default 24.' }),
      ),
      search: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 100,
          description: 'Only entries with this in the name of the actor or of what was changed, or in the type.',
        }),
      ),
      limit: limitField,
    }),
    async run({ client, now }, { hours = 24, search, limit = 50 }) {
      const to = now()
      const { logs, nextPageToken } = (await client.auditLogs({ from: to - hours * hourMs, to, pageSize: 1000 })).body
      const found = logs.filter(
        ({ actor, target, type }) =>
          search === undefined || [actor.name, target?.name, type].some((text) => contains(text, search)),
      )
      return { changes: found.slice(0, limit), hasMore: found.length > limit || nextPageToken !== '' }
    },
  }),
  directTool({
    name: 'list_jobs',
    title: 'Jobs',
    description: 'Changes to many rooms, newest first, with their state and progress: restarts, settings, messages.',
    needs: 'read',
    input: Type.Object({
      onlyOpen: Type.Optional(Type.Boolean({ description: 'Only jobs that have not ended.' })),
      roomId: Type.Optional(roomIdField),
      limit: limitField,
    }),
    async run({ client }, { onlyOpen = false, roomId, limit = 50 }) {
      const query = { ...(onlyOpen && { state: 'open' as const }), ...(roomId !== undefined && { roomId }) }
      const { jobs, nextPageToken } = (await client.jobsList({ ...query, pageSize: limit })).body
      return { jobs, hasMore: nextPageToken !== '' }
    },
  }),
  directTool({
    name: 'get_job',
    title: 'One job',
    description: 'A job with its progress, and the rooms that wait, failed or were skipped, with the reason.',
    needs: 'read',
    input: Type.Object({ jobId: jobIdField }),
    async run({ client }, { jobId: id }) {
      const [job, units] = await Promise.all([client.jobsGet({ id }), client.jobsRoomsList({ id, pageSize: 200 })])
      return { ...job.body, rooms: units.body.rooms, hasMoreRooms: units.body.nextPageToken !== '' }
    },
  }),
]

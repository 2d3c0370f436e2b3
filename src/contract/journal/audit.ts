// The audit log: what an entry is and how it is read. [contract 5.4.audit] [contract 4.auditLogs]

import Type from 'typebox'
import { operation } from '../operation.ts'
import { Bom, Int32, OneOf, RequiredQueryTime, Shape, Timestamp } from '../shape.ts'

const Actor = Shape('v1AuditActor', {
  type: OneOf(['KEY', 'USER', 'DEVICE', 'CLI', 'SYSTEM'], 'The kind of actor.'),
  id: Type.String(),
  name: Type.String(),
})
const Target = Shape('v1AuditTarget', { type: Type.String(), id: Type.String(), name: Type.String() })
const Affected = Shape('v1AuditAffected', {
  type: Type.String(),
  id: Type.String(),
  name: Type.String(),
  serial: Type.Optional(Type.String({ description: 'Serial number of an endpoint.' })),
})

const auditCategories = ['USER', 'DEVICE', 'ORG'] as const

export const AuditEntry = Shape('v1AuditLog', {
  id: Type.String({ description: 'Position in the log of the organisation, from 1.' }),
  timestamp: Timestamp('Time of the change.'),
  category: OneOf(
    auditCategories,
    'USER: users, keys and sign-in. DEVICE: endpoints, enrolment codes, incidents, silences and jobs. ORG: everything else.',
  ),
  type: Type.String({ description: 'The kind of change, for example LOCATION_CREATED.' }),
  actor: Actor,
  target: Type.Optional(Target),
  details: Type.Optional(
    Shape('v1AuditDetails', {
      before: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      after: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      affected: Type.Optional(Type.Array(Affected)),
      jobId: Type.Optional(Type.String({ description: 'The job that made the change.' })),
    }),
  ),
  jobEntryCount: Type.Optional(
    Int32(
      'With `foldJobs`: how many entries of the page this one stands for, itself included; absent for entries of no job.',
    ),
  ),
  requestId: Type.Optional(Type.String({ description: 'The X-Request-Id of the call.' })),
  ip: Type.Optional(Type.String({ description: 'Address of the caller.' })),
})

export const auditOperations = {
  auditLogs: operation({
    method: 'GET',
    path: '/audit/logs',
    tag: 'Audit',
    scope: 'read',
    auditLog: true,
    command: 'audit-logs list',
    summary: 'List the audit log entries of a time window, newest first',
    description:
      'An empty `nextPageToken` ends the paging. A caller that is limited to regions gets no `details` of an entry that is also about other regions, and no `target` that it may not see. With filters a page can have few entries, or none, and still have a `nextPageToken`: it ends after so many entries were read. With `Accept: text/csv` all entries of the window that match the filters are streamed; that export is audited.',
    query: {
      from: RequiredQueryTime('Start of the window, inclusive. A date alone is midnight in UTC.'),
      to: RequiredQueryTime('End of the window, exclusive. A date alone is midnight in UTC.'),
      pageSize: Int32('Entries per page: 0 or absent means 100, more than 1000 means 1000.'),
      pageToken: Type.String({
        description: 'The `nextPageToken` of the page before; only with the same window and filters.',
      }),
      category: OneOf(auditCategories, 'Only entries of this category.'),
      type: Type.String({ description: 'Only changes of this kind, for example LOCATION_CREATED.' }),
      actor: Type.String({
        description: 'Only changes by this actor: its identifier or name, or type and identifier such as `USER:3`.',
      }),
      target: Type.String({
        description:
          'Only changes of this thing, also where it is one of several: its identifier, name or serial number, or type and identifier such as `room:12`.',
      }),
      jobId: Type.String({ description: 'Only changes that this job made.' }),
      text: Type.String({
        description:
          'Only entries in whose names, serial numbers, kind of change (as in `type`, or in the words of the console), `requestId` or `ip` all of these words occur.',
      }),
      foldJobs: Type.Boolean({
        description:
          'Whether the entries that one job made are one entry: the newest of them on the page, with `jobEntryCount`. A CSV has all entries.',
      }),
      bom: Bom,
    },
    response: Shape('v1AuditLogsResponse', {
      logs: Type.Array(AuditEntry),
      nextPageToken: Type.String({ description: 'Token of the next page; empty on the last page.' }),
    }),
    csv: true,
    audit: { category: 'ORG', type: 'AUDIT_EXPORTED' },
    example: {
      query: { from: '2026-03-02T00:00:00Z', to: '2026-03-03T00:00:00Z' },
      response: {
        logs: [
          {
            id: '12',
            timestamp: '2026-03-02T09:15:00.000Z',
            category: 'ORG',
            type: 'LOCATION_CREATED',
            actor: { type: 'KEY', id: '1', name: 'First key' },
            target: { type: 'location', id: '3', name: 'Oslo HQ' },
            details: { after: { name: 'Oslo HQ', regionId: 11 } },
            requestId: 'b1946ac92492d234',
            ip: '127.0.0.1',
          },
        ],
        nextPageToken: '',
      },
    },
  }),
}

// Incidents: problems in the organisation, one incident for each cause, and the actions of people on them. [contract 10.states]

import Type from 'typebox'
import { csvList } from '../csv-list.ts'
import { exampleEndpointId } from '../fleet/endpoints.ts'
import { largeBodyBytes, operation } from '../operation.ts'
import { Bom, Int32, MultilineText, OneOf, QueryTime, Shape, Timestamp } from '../shape.ts'
import { maxNoteCharacters } from './limits.ts'
import { readingNames } from './readings.ts'
import { ruleIds, severities } from './rule-table.ts'
import { incidentStates } from './states.ts'

export const causeLevels = [
  'ENDPOINT',
  'ROOM',
  'LOCATION',
  'GATEWAY',
  'ORGANISATION',
  'MODEL',
  'PROFILE',
  'CHANNEL',
  'JOB',
] as const
export type CauseLevel = (typeof causeLevels)[number]

export const timelineKinds = [
  'OPENED',
  'JOINED',
  'LEFT',
  'SEVERITY',
  'ACKNOWLEDGED',
  'UNACKNOWLEDGED',
  'ASSIGNED',
  'UNASSIGNED',
  'SNOOZED',
  'WOKEN',
  'COMMENT',
  'RESOLVED',
  'REOPENED',
  'MERGED',
  'SPLIT',
  'FLAPPING',
] as const
export type TimelineKind = (typeof timelineKinds)[number]

/** An incident stores the times of at most this many reopenings. */
export const maxShownReopenings = 50

/** The list shows so much of the latest note; the timeline has all of it. */
export const maxShownNoteCharacters = 300

const id = Type.String({ description: 'Identifier of the incident.' })
const Person = Shape('IncidentPerson', {
  type: OneOf(['KEY', 'USER', 'CLI', 'SYSTEM'], 'The kind of actor.'),
  id: Type.String(),
  name: Type.String(),
})
const idList = (noun: string) =>
  Type.Array(Int32(`Identifier of a ${noun}.`), {
    description: `The ${noun}s of the visible subjects that are still affected; if none is, the ${noun}s of all visible subjects.`,
  })

const fields = {
  id,
  rule: OneOf(ruleIds, 'The rule that opened the incident.'),
  severity: OneOf(severities, 'Severity of the incident.'),
  state: OneOf(
    incidentStates,
    'OPEN: no person has acknowledged the incident yet. ACKNOWLEDGED: a person has seen it. RESOLVED: the cause ended, or a person closed it. MERGED: it is part of the incident `mergedInto`.',
  ),
  title: Type.String({ description: 'One line that says what is wrong, and in which room and location.' }),
  hint: Type.String({ description: 'Advice on what to do.' }),
  cause: Shape('IncidentCause', {
    level: OneOf(causeLevels, 'The kind of thing that all subjects have in common.'),
    id: Type.String({
      description: 'Identifier of the endpoint, room, location, organisation, profile, channel or job, or the model.',
    }),
    name: Type.String({ description: 'Name of the cause.' }),
  }),
  readings: Type.Optional(
    Type.Array(
      Shape('IncidentReading', {
        name: OneOf(readingNames, 'Name of the quantity.'),
        value: Type.Number({ description: 'The value at the last change of the incident.' }),
        unit: Type.String({ description: 'Unit of the value; empty for a count.' }),
        min: Type.Optional(Type.Number({ description: 'Lowest value that opens no incident.' })),
        max: Type.Optional(Type.Number({ description: 'Highest value that opens no incident.' })),
      }),
      {
        description: 'The values that opened the incident, if its rule looks at values and the caller sees all of it.',
      },
    ),
  ),
  since: Timestamp('Time at which the problem began.'),
  openedAt: Timestamp('Time at which the incident opened.'),
  updatedAt: Timestamp('Time at which the incident last changed.'),
  resolvedAt: Type.Optional(Timestamp('Time at which the incident was resolved.')),
  occurrences: Int32(
    'How many times the same cause occurred, each within 60 minutes of the end of the one before, including the first time.',
  ),
  reopenings: Type.Optional(
    Type.Array(Timestamp('A time at which the incident reopened.'), {
      description: `The times at which the incident reopened, oldest first: only the 7 days before the last one, and at most the last ${maxShownReopenings}.`,
    }),
  ),
  flapping: Type.Boolean({
    description: 'Whether the incident reopened so often that no more messages are sent about it.',
  }),
  acknowledgedBy: Type.Optional(Person),
  acknowledgedAt: Type.Optional(
    Timestamp(
      'Time at which a person first acknowledged the incident. It stays if that is withdrawn or the incident reopens.',
    ),
  ),
  assignee: Type.Optional(Shape('IncidentAssignee', { id: Type.String(), name: Type.String() })),
  snoozedUntil: Type.Optional(
    Type.String({ description: 'The time until which the incident is snoozed, or `cleared`: until its cause ends.' }),
  ),
  latestNote: Type.Optional(
    Shape('IncidentNote', {
      at: Timestamp('Time of the note.'),
      author: Type.String({ description: 'Name of the person or key that wrote it.' }),
      text: Type.String({ description: `The first ${maxShownNoteCharacters} characters of the note.` }),
    }),
  ),
  mergedInto: Type.Optional(Type.String({ description: 'The larger incident that this incident was merged into.' })),
  splitFrom: Type.Optional(Type.String({ description: 'The larger incident that this incident was split from.' })),
  roomIds: idList('room'),
  locationIds: idList('location'),
  regionIds: idList('region'),
  subjectCount: Int32('How many subjects the incident has had.'),
  openSubjectCount: Int32('How many of these subjects are still affected.'),
}
export const Incident = Shape('Incident', fields)

const Subject = Shape('IncidentSubject', {
  type: OneOf(['endpoint', 'room', 'channel', 'organisation', 'job'], 'The kind of subject.'),
  id: Type.String({ description: 'Identifier of the subject.' }),
  name: Type.String({
    description: 'Name of the subject; for an endpoint without a name, its model with the end of its serial number.',
  }),
  roomId: Type.Optional(Int32('The room that the subject was in.')),
  roomName: Type.Optional(Type.String({ description: 'The name of that room.' })),
  since: Timestamp('Time at which the problem of the subject began.'),
  endedAt: Type.Optional(Timestamp('Time at which the problem of the subject ended.')),
})

export const IncidentWithSubjects = Shape('IncidentWithSubjects', {
  ...fields,
  subjects: Type.Array(Subject, {
    description: 'The first 200 subjects that the caller may see; those that are still affected come first.',
  }),
  timeline: Type.Array(
    Shape('IncidentTimelineEntry', {
      at: Timestamp('Time of the entry.'),
      kind: OneOf(timelineKinds, 'Kind of the entry.'),
      actor: Type.Optional(Person),
      text: Type.Optional(Type.String({ description: 'The note, the comment, or a detail.' })),
    }),
    { description: 'The last 200 entries, oldest first.' },
  ),
})

const example = {
  id: '12',
  rule: 'device.offline',
  severity: 'CRITICAL',
  state: 'OPEN',
  title: 'Fjord (Oslo) is offline',
  hint: 'No device of the room is connected. Check its power, its switch and its network sockets.',
  cause: { level: 'ROOM', id: '7', name: 'Fjord' },
  since: '2026-05-04T08:15:30.000Z',
  openedAt: '2026-05-04T08:20:31.000Z',
  updatedAt: '2026-05-04T08:20:31.000Z',
  occurrences: 1,
  flapping: false,
  roomIds: [7],
  locationIds: [3],
  regionIds: [11],
  subjectCount: 1,
  openSubjectCount: 1,
}
const whole = {
  ...example,
  subjects: [
    {
      type: 'endpoint',
      id: exampleEndpointId,
      name: 'Room Bar 4K7X',
      roomId: 7,
      roomName: 'Fjord',
      since: example.since,
    },
  ],
  timeline: [{ at: example.openedAt, kind: 'OPENED' }],
}
const params = { id }
const note = MultilineText(maxNoteCharacters, 'A note for the timeline.')
const writing = {
  tag: 'Incidents',
  scope: 'write',
  operate: true,
  params,
  bodyLimitBytes: largeBodyBytes,
  response: IncidentWithSubjects,
  versioned: true,
  ifMatch: true,
} as const

export const incidentOperations = {
  incidentsList: operation({
    method: 'GET',
    path: '/incidents',
    tag: 'Incidents',
    scope: 'read',
    summary: 'List incidents, newest first',
    description:
      'An empty `nextPageToken` ends the paging. `from` and `to` select by the time at which the incident opened.',
    query: {
      state: OneOf(
        ['open', 'all', ...incidentStates],
        '`open` (the default) means OPEN and ACKNOWLEDGED; `all` means every state.',
      ),
      rule: OneOf(ruleIds, 'Only incidents of this rule.'),
      severity: OneOf(severities, 'Only incidents of this severity.'),
      regionId: Int32('Only incidents with a subject in this region.'),
      locationId: Int32('Only incidents with a subject in this location.'),
      roomId: Int32('Only incidents with a subject in this room.'),
      endpointId: Type.String({ format: 'uuid', description: 'Only incidents with this endpoint as a subject.' }),
      assigneeId: Type.String({ description: 'Only incidents that are assigned to this user.' }),
      from: QueryTime('Start of the window, inclusive.'),
      to: QueryTime('End of the window, exclusive.'),
      resolvedFrom: QueryTime('Only incidents that were resolved or merged at this time or later.'),
      pageSize: Int32('Incidents per page: 0 or absent means 100, more than 1000 means 1000.'),
      pageToken: Type.String({ description: 'The `nextPageToken` of the page before; only with the same query.' }),
      bom: Bom,
    },
    response: Shape('IncidentList', {
      incidents: Type.Array(Incident),
      nextPageToken: Type.String({ description: 'Token of the next page; empty on the last page.' }),
    }),
    csv: true,
    csvList: csvList('incidents', 'incidents', Incident),
    example: { query: { severity: 'CRITICAL' }, response: { incidents: [example], nextPageToken: '' } },
  }),
  incidentsGet: operation({
    method: 'GET',
    path: '/incidents/{id}',
    tag: 'Incidents',
    scope: 'read',
    summary: 'Read one incident with its subjects and its timeline',
    params,
    response: IncidentWithSubjects,
    versioned: true,
    example: { params: { id: '12' }, response: whole },
  }),
  incidentsAcknowledge: operation({
    ...writing,
    method: 'POST',
    path: '/incidents/{id}/acknowledge',
    summary: 'Acknowledge an incident, or withdraw the acknowledgement',
    body: Shape('IncidentsAcknowledgeRequest', {
      acknowledged: Type.Optional(Type.Boolean({ description: 'False withdraws the acknowledgement; default true.' })),
      note: Type.Optional(note),
    }),
    audit: { category: 'DEVICE', type: 'INCIDENT_ACKNOWLEDGED', undoType: 'INCIDENT_UNACKNOWLEDGED' },
    example: { params: { id: '12' }, body: { note: 'On my way.' }, response: { ...whole, state: 'ACKNOWLEDGED' } },
  }),
  incidentsResolve: operation({
    ...writing,
    method: 'POST',
    path: '/incidents/{id}/resolve',
    summary: 'Close an incident manually',
    description:
      'The incident stays closed while its cause lasts. An incident of `credential.*` reopens only after a new attempt.',
    body: Shape('IncidentsResolveRequest', { note }),
    audit: { category: 'DEVICE', type: 'INCIDENT_RESOLVED' },
    example: {
      params: { id: '12' },
      body: { note: 'The room is being rebuilt.' },
      response: { ...whole, state: 'RESOLVED' },
    },
  }),
  incidentsComment: operation({
    ...writing,
    method: 'POST',
    path: '/incidents/{id}/comments',
    summary: 'Add a comment to the timeline of an incident',
    body: Shape('IncidentsCommentRequest', { text: MultilineText(maxNoteCharacters, 'The text of the comment.') }),
    audit: { category: 'DEVICE', type: 'INCIDENT_COMMENTED' },
    example: { params: { id: '12' }, body: { text: 'The switch is being replaced.' }, response: whole },
  }),
  incidentsAssign: operation({
    ...writing,
    method: 'PUT',
    path: '/incidents/{id}/assignee',
    summary: 'Assign an incident to a user, or unassign it',
    body: Shape('IncidentsAssignRequest', {
      userId: Type.Union([Type.String(), Type.Null()], { description: 'The user; null to unassign it.' }),
    }),
    audit: { category: 'DEVICE', type: 'INCIDENT_ASSIGNED', undoType: 'INCIDENT_UNASSIGNED' },
    example: { params: { id: '12' }, body: { userId: '4' }, response: whole },
  }),
  incidentsSnooze: operation({
    ...writing,
    method: 'PUT',
    path: '/incidents/{id}/snooze',
    summary: 'Snooze an incident, or end its snooze',
    body: Shape('IncidentsSnoozeRequest', {
      until: Type.Union([Type.String({ maxLength: 100 }), Type.Null()], {
        description: 'A time within 30 days, `cleared` (until its cause ends), or null (ends the snooze).',
      }),
    }),
    audit: { category: 'DEVICE', type: 'INCIDENT_SNOOZED', undoType: 'INCIDENT_WOKEN' },
    example: { params: { id: '12' }, body: { until: 'cleared' }, response: { ...whole, snoozedUntil: 'cleared' } },
  }),
}

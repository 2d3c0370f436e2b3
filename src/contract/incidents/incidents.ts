// Incidents: what is wrong in the organisation, one for each cause, and what people do about it. [contract 10.states]

import Type from 'typebox'
import { exampleEndpointId } from '../endpoints.ts'
import { largeBodyBytes, operation } from '../operation.ts'
import { Int32, MultilineText, OneOf, QueryTime, Shape, Timestamp } from '../shape.ts'
import { maxNoteCharacters } from './limits.ts'
import { ruleIds, severities } from './rule-table.ts'
import { incidentStates } from './states.ts'

export const causeLevels = [
  'ENDPOINT',
  'ROOM',
  'LOCATION',
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

const id = Type.String({ description: 'Identifier of the incident.' })
const Person = Shape('IncidentPerson', {
  type: OneOf(['KEY', 'USER', 'CLI', 'SYSTEM'], 'The kind of actor.'),
  id: Type.String(),
  name: Type.String(),
})
const idList = (noun: string) =>
  Type.Array(Int32(`Identifier of a ${noun}.`), {
    description: `The ${noun}s of its visible subjects that are still affected; of all, if none is.`,
  })

const fields = {
  id,
  rule: OneOf(ruleIds, 'The rule that opened it.'),
  severity: OneOf(severities, 'How bad it is.'),
  state: OneOf(
    incidentStates,
    'OPEN. ACKNOWLEDGED: a person has seen it. RESOLVED: the cause ended, or a person closed it. MERGED: it is part of `mergedInto`.',
  ),
  title: Type.String({ description: 'One line that says what is wrong.' }),
  hint: Type.String({ description: 'Advice: what to do.' }),
  cause: Shape('IncidentCause', {
    level: OneOf(causeLevels, 'What the subjects have in common.'),
    id: Type.String({
      description: 'Identifier of the endpoint, room, location, organisation, profile, channel or job, or the model.',
    }),
    name: Type.String({ description: 'Its name.' }),
  }),
  since: Timestamp('When the problem began.'),
  openedAt: Timestamp('When the incident opened.'),
  updatedAt: Timestamp('When the incident last changed.'),
  resolvedAt: Type.Optional(Timestamp('When it was resolved.')),
  occurrences: Int32('How often the same cause came back within 60 minutes, the first time included.'),
  reopenings: Type.Optional(
    Type.Array(Timestamp('When it reopened.'), {
      description: `The times at which it reopened, oldest first: those of the 7 days before the last one, and at most the last ${maxShownReopenings}.`,
    }),
  ),
  flapping: Type.Boolean({ description: 'Whether it came back so often that messages have stopped.' }),
  acknowledgedBy: Type.Optional(Person),
  assignee: Type.Optional(Shape('IncidentAssignee', { id: Type.String(), name: Type.String() })),
  snoozedUntil: Type.Optional(
    Type.String({ description: 'The time until which it is snoozed, or `cleared`: until its cause ends.' }),
  ),
  mergedInto: Type.Optional(Type.String({ description: 'The larger incident that it became a part of.' })),
  splitFrom: Type.Optional(Type.String({ description: 'The larger incident that it was split from.' })),
  roomIds: idList('room'),
  locationIds: idList('location'),
  regionIds: idList('region'),
  subjectCount: Int32('How many subjects it has had.'),
  openSubjectCount: Int32('How many of them are still affected.'),
}
export const Incident = Shape('Incident', fields)

const Subject = Shape('IncidentSubject', {
  type: OneOf(['endpoint', 'room', 'channel', 'organisation', 'job'], 'What it is.'),
  id: Type.String({ description: 'Its identifier.' }),
  name: Type.String({ description: 'Its name; of an endpoint, its model and serial number.' }),
  roomId: Type.Optional(Int32('The room that it was in.')),
  roomName: Type.Optional(Type.String({ description: 'The name of that room.' })),
  since: Timestamp('When its problem began.'),
  endedAt: Type.Optional(Timestamp('When its problem ended.')),
})

export const IncidentWithSubjects = Shape('IncidentWithSubjects', {
  ...fields,
  subjects: Type.Array(Subject, {
    description: 'The first 200 that the caller sees, those that are still affected first.',
  }),
  timeline: Type.Array(
    Shape('IncidentTimelineEntry', {
      at: Timestamp('When it happened.'),
      kind: OneOf(timelineKinds, 'What happened.'),
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
  title: 'Fjord is offline',
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
    description: 'An empty `nextPageToken` ends the paging. `from` and `to` are about the time at which it opened.',
    query: {
      state: OneOf(
        ['open', 'all', ...incidentStates],
        '`open` (the default) means OPEN and ACKNOWLEDGED; `all` means every state.',
      ),
      rule: OneOf(ruleIds, 'Only of this rule.'),
      severity: OneOf(severities, 'Only of this severity.'),
      regionId: Int32('Only those with a subject in this region.'),
      locationId: Int32('Only those with a subject in this location.'),
      roomId: Int32('Only those with a subject in this room.'),
      endpointId: Type.String({ format: 'uuid', description: 'Only those of this endpoint.' }),
      assigneeId: Type.String({ description: 'Only those that are assigned to this user.' }),
      from: QueryTime('Start of the window, inclusive.'),
      to: QueryTime('End of the window, exclusive.'),
      pageSize: Int32('Incidents per page: 0 or absent means 100, more than 1000 means 1000.'),
      pageToken: Type.String({ description: 'The `nextPageToken` of the page before; only with the same query.' }),
    },
    response: Shape('IncidentList', {
      incidents: Type.Array(Incident),
      nextPageToken: Type.String({ description: 'Empty on the last page.' }),
    }),
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
    summary: 'Acknowledge an incident, or withdraw that',
    body: Shape('IncidentsAcknowledgeRequest', {
      acknowledged: Type.Optional(Type.Boolean({ description: 'False withdraws it; default true.' })),
      note: Type.Optional(note),
    }),
    audit: { category: 'DEVICE', type: 'INCIDENT_ACKNOWLEDGED', undoType: 'INCIDENT_UNACKNOWLEDGED' },
    example: { params: { id: '12' }, body: { note: 'On my way.' }, response: { ...whole, state: 'ACKNOWLEDGED' } },
  }),
  incidentsResolve: operation({
    ...writing,
    method: 'POST',
    path: '/incidents/{id}/resolve',
    summary: 'Close an incident by hand',
    description: 'It stays closed while its cause lasts. Only a new attempt reopens an incident of `credential.*`.',
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
    summary: 'Add a text to the timeline of an incident',
    body: Shape('IncidentsCommentRequest', { text: MultilineText(maxNoteCharacters, 'The text.') }),
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

// Silences: times in which a place opens no incidents. [contract 10.silence]

import Type from 'typebox'
import { exampleEndpointId } from '../fleet/endpoints.ts'
import { largeBodyBytes, operation } from '../operation.ts'
import { Empty, Int32, ListOf, OneOf, Shape, SingleLineText, Timestamp } from '../shape.ts'
import { WeeklyHours } from '../weekly-hours.ts'
import { ruleIds } from './rule-table.ts'

const id = Type.String({ description: 'Identifier of the silence.' })
const Place = Shape('SilencePlace', {
  regionId: Type.Optional(Int32('A region.')),
  locationId: Type.Optional(Int32('A location.')),
  roomId: Type.Optional(Int32('A room.')),
  endpointId: Type.Optional(Type.String({ format: 'uuid', description: 'An endpoint.' })),
  all: Type.Optional(Type.Literal(true, { description: 'The whole organisation.' })),
})
const fields = {
  place: Place,
  rules: Type.Optional(
    Type.Array(OneOf(ruleIds, 'A rule.'), {
      minItems: 1,
      maxItems: 20,
      description: 'Only incidents of these rules; absent means all rules except the rules about security.',
    }),
  ),
  reason: SingleLineText(500, 'Reason for the silence.'),
}
const weekly = Type.Optional(WeeklyHours)

const Silence = Shape('Silence', {
  id,
  ...fields,
  from: Timestamp('Time at which the silence begins.'),
  to: Type.Optional(
    Timestamp('Time at which the silence ends; absent means never, which is allowed only for a weekly silence.'),
  ),
  weekly,
  active: Type.Boolean({ description: 'Whether the silence is in effect now.' }),
  createdBy: Shape('SilenceAuthor', { type: Type.String(), id: Type.String(), name: Type.String() }),
})

const example = {
  id: '3',
  place: { endpointId: exampleEndpointId },
  reason: 'The room is being painted.',
  from: '2026-05-04T08:00:00.000Z',
  to: '2026-05-04T16:00:00.000Z',
  active: true,
  createdBy: { type: 'USER', id: '4', name: 'Ada' },
}

export const silenceOperations = {
  silencesList: operation({
    method: 'GET',
    path: '/silences',
    tag: 'Incidents',
    scope: 'read',
    summary: 'List the silences that have not ended',
    response: ListOf('SilenceList', 'silences', Silence),
    example: { response: { silences: [example] } },
  }),
  silencesCreate: operation({
    method: 'POST',
    path: '/silences',
    tag: 'Incidents',
    scope: 'write',
    operate: true,
    summary: 'Silence a place for a time',
    description:
      'Set exactly one key of `place`, and `to` or `weekly`. A silence of more than 24 hours and every weekly silence need write. A silence of the whole organisation needs a caller who sees all regions. A rule about security must be named in `rules`, and needs manage.',
    body: Shape('SilencesCreateRequest', {
      ...fields,
      from: Type.Optional(Timestamp('Time at which the silence begins; default now.')),
      to: Type.Optional(Timestamp('Time at which the silence ends.')),
      weekly,
    }),
    bodyLimitBytes: largeBodyBytes,
    response: Silence,
    versioned: true,
    audit: { category: 'DEVICE', type: 'SILENCE_CREATED' },
    example: {
      body: { place: example.place, reason: example.reason, to: example.to },
      response: example,
    },
  }),
  silencesDelete: operation({
    method: 'DELETE',
    path: '/silences/{id}',
    tag: 'Incidents',
    scope: 'write',
    operate: true,
    summary: 'End a silence',
    params: { id },
    response: Empty,
    ifMatch: true,
    audit: { category: 'DEVICE', type: 'SILENCE_DELETED' },
    example: { params: { id: '3' }, response: {} },
  }),
}

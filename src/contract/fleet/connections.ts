// Connections: when devices were connected, as spans with a summary. [contract 10.connections]
import Type from 'typebox'
import { operation } from '../operation.ts'
import { Bom, Int32, OneOf, QueryTime, RequiredQueryTime, Shape, Timestamp } from '../shape.ts'
import { exampleEndpointId } from './endpoints.ts'

const connectionEnds = [
  'DISCONNECTED',
  'LOST',
  'REPLACED',
  'REFUSED',
  'UNENROLLED',
  'RELEASED',
  'SERVER_ENDED',
] as const
export type ConnectionEnd = (typeof connectionEnds)[number]

export const SpanShape = Shape('ConnectionSpan', {
  endpointId: Type.String({ format: 'uuid', description: 'The endpoint.' }),
  from: Timestamp('Time at which the device connected.'),
  to: Type.Optional(
    Timestamp('Time at which the connection or the window ended; absent if the device is connected now.'),
  ),
  why: Type.Optional(
    OneOf(
      connectionEnds,
      'DISCONNECTED: the device announced that it disconnects. LOST: the device stopped sending, or its connection broke. REPLACED: the device connected again or enrolled again. REFUSED: the device violated the protocol or sent too many bad messages. UNENROLLED: its endpoint was deleted. RELEASED: the device was removed from its gateway, and its endpoint stayed. SERVER_ENDED: the server stopped or failed, lost its database, or could not store a message. Absent if the connection did not end in the window.',
    ),
  ),
  followedBy: Type.Optional(
    OneOf(
      ['ASLEEP', 'UNKNOWN', 'OFFLINE'],
      'State of the endpoint after the end of the connection. Absent if the connection did not end in the window, if the next one followed immediately, and in records of earlier versions.',
    ),
  ),
})
const Gap = Shape('ConnectionGap', {
  endpointId: Type.String({ format: 'uuid', description: 'The endpoint.' }),
  from: Timestamp('Start.'),
  to: Timestamp('End: the end of the state, or of the window.'),
  state: OneOf(
    ['ASLEEP', 'UNKNOWN'],
    'ASLEEP: the device slept. UNKNOWN: it could not be seen, because a server had stopped or its gateway was away.',
  ),
})
const gaps = Type.Array(Gap, {
  description:
    'The times without a connection that do not count as outages: the endpoint was asleep, or its state was not known.',
})
const summary = {
  onlineShare: Type.Optional(
    Type.Number({
      description:
        'Share of the recorded time in which the device was connected, 0 to 1, without the time in which it was asleep or its state was not known; absent if nothing was recorded.',
    }),
  ),
  outages: Int32('How many times the device was offline.'),
  longestOutageSeconds: Int32('The longest time in which the device was offline, in seconds.'),
}
const roomSummary = {
  onlineShare: Type.Optional(
    Type.Number({
      description:
        'Share of the recorded time in which at least one endpoint was connected, 0 to 1, without the time in which none was connected and one was asleep or its state was not known; absent if nothing was recorded.',
    }),
  ),
  outages: Int32('How many times all endpoints were offline.'),
  longestOutageSeconds: Int32('The longest time in which all endpoints were offline, in seconds.'),
}
const Summary = Shape('ConnectionSummary', {
  endpointId: Type.String({ format: 'uuid', description: 'The endpoint.' }),
  knownFrom: Type.Optional(Timestamp('Time at which the records begin; absent if the device was never connected.')),
  ...summary,
  omittedSpans: Type.Optional(Int32('How many of the oldest spans in the window were left out.')),
})

const query = {
  from: RequiredQueryTime('Start of the window, inclusive.'),
  to: QueryTime('End of the window, exclusive; default now.'),
  bom: Bom,
}
const description =
  'The spans are sorted by endpoint, oldest first, and cut at the window. An endpoint is connected during its spans, and offline between them, except in its `gaps`. The numbers cover the part of the window for which there are records. An answer has at most 5,000 spans: the newest of each endpoint. With `Accept: text/csv` the answer has all spans and no numbers, in the columns `endpointId`, `from`, `to`, `why`, `followedBy`.'
const span = {
  endpointId: exampleEndpointId,
  from: '2026-05-04T00:00:00.000Z',
  to: '2026-05-04T09:30:00.000Z',
  why: 'LOST',
}
const exampleSummary = {
  endpointId: exampleEndpointId,
  knownFrom: '2026-05-04T00:00:00.000Z',
  onlineShare: 0.992,
  outages: 3,
  longestOutageSeconds: 2460,
}
const exampleQuery = { from: '2026-05-04T00:00:00Z', to: '2026-05-11T00:00:00Z' }

export const connectionOperations = {
  endpointsConnections: operation({
    method: 'GET',
    path: '/endpoints/{id}/connections',
    tag: 'Endpoints',
    scope: 'read',
    summary: 'Read the connection history of an endpoint',
    description,
    params: { id: Type.String({ format: 'uuid', description: 'Identifier of the endpoint.' }) },
    query,
    response: Shape('EndpointConnections', { ...Summary.properties, spans: Type.Array(SpanShape), gaps }),
    csv: true,
    example: {
      params: { id: exampleEndpointId },
      query: exampleQuery,
      response: { ...exampleSummary, spans: [span], gaps: [] },
    },
  }),
  roomsConnections: operation({
    method: 'GET',
    path: '/rooms/{id}/connections',
    tag: 'Rooms',
    scope: 'read',
    summary: 'Read the connection history of the endpoints of a room',
    description: `${description} The endpoints are those that are in the room now; the numbers of the room are about times in which all of them were offline.`,
    params: { id: Int32('Identifier of the room.') },
    query,
    response: Shape('RoomConnections', {
      ...roomSummary,
      endpoints: Type.Array(Summary, { description: 'Availability of each endpoint.' }),
      spans: Type.Array(SpanShape),
      gaps,
    }),
    csv: true,
    example: {
      params: { id: 7 },
      query: exampleQuery,
      response: {
        onlineShare: 0.992,
        outages: 3,
        longestOutageSeconds: 2460,
        endpoints: [exampleSummary],
        spans: [span],
        gaps: [],
      },
    },
  }),
}

// Connections: when devices were connected, as spans with a summary. [contract 10.connections]
import Type from 'typebox'
import { exampleEndpointId } from '../endpoints.ts'
import { operation } from '../operation.ts'
import { Int32, OneOf, QueryTime, RequiredQueryTime, Shape, Timestamp } from '../shape.ts'

export const connectionEnds = ['DISCONNECTED', 'LOST', 'REPLACED', 'REFUSED', 'UNENROLLED', 'SERVER_ENDED'] as const
export type ConnectionEnd = (typeof connectionEnds)[number]

const Span = Shape('ConnectionSpan', {
  endpointId: Type.String({ format: 'uuid', description: 'The endpoint.' }),
  from: Timestamp('When it connected.'),
  to: Type.Optional(Timestamp('When the connection, or the window, ended; absent: it is connected now.')),
  why: Type.Optional(
    OneOf(
      connectionEnds,
      'DISCONNECTED: the device said that it disconnects. LOST: it fell silent, or its connection broke. REPLACED: it connected again. REFUSED: it broke the protocol. UNENROLLED: its endpoint was deleted. SERVER_ENDED: the server stopped, failed or lost its database. Absent if the connection did not end in the window.',
    ),
  ),
})
const summary = {
  onlineShare: Type.Optional(
    Type.Number({
      description: 'The share of the known time in which it was connected, 0 to 1; absent: nothing is known.',
    }),
  ),
  outages: Int32('How often it was not connected for a time.'),
  longestOutageSeconds: Int32('The longest such time, in seconds.'),
}
const Summary = Shape('ConnectionSummary', {
  endpointId: Type.String({ format: 'uuid', description: 'The endpoint.' }),
  knownFrom: Type.Optional(Timestamp('Before this time nothing is known; absent: it was never connected.')),
  ...summary,
  omittedSpans: Type.Optional(Int32('How many of its oldest spans in the window were left out.')),
})

const query = {
  from: RequiredQueryTime('Start of the window, inclusive.'),
  to: QueryTime('End of the window, exclusive; now if it is absent.'),
}
const description =
  'By endpoint, oldest first; spans are cut at the window. An endpoint is connected during its spans, and not connected in between. The numbers are about the part of the window that is known. An answer has 5,000 spans at most: of each endpoint the newest. With `Accept: text/csv` all spans, and only these: `endpointId`, `from`, `to`, `why`.'
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
    summary: 'Read when an endpoint was connected',
    description,
    params: { id: Type.String({ format: 'uuid', description: 'Identifier of the endpoint.' }) },
    query,
    response: Shape('EndpointConnections', { ...Summary.properties, spans: Type.Array(Span) }),
    csv: true,
    example: {
      params: { id: exampleEndpointId },
      query: exampleQuery,
      response: { ...exampleSummary, spans: [span] },
    },
  }),
  roomsConnections: operation({
    method: 'GET',
    path: '/rooms/{id}/connections',
    tag: 'Rooms',
    scope: 'read',
    summary: 'Read when the endpoints of a room were connected',
    description: `${description} The endpoints are those that are in the room now; the numbers of the room are about times in which none of them was connected.`,
    params: { id: Int32('Identifier of the room.') },
    query,
    response: Shape('RoomConnections', {
      ...summary,
      endpoints: Type.Array(Summary, { description: 'The numbers of each endpoint.' }),
      spans: Type.Array(Span),
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
      },
    },
  }),
}

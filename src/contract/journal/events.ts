// Events: the live stream of changes in an organisation. [contract 6.events]

import Type, { type Static } from 'typebox'
import { DeviceCommand } from '../fleet/commands.ts'
import { EndpointStateName, exampleEndpointId } from '../fleet/endpoints.ts'
import { incidentStates } from '../incidents/states.ts'
import { jobStates } from '../jobs/job-states.ts'
import { operation } from '../operation.ts'
import { Measured, Sample } from '../sensors/sensors.ts'
import { Int32, OneOf, Shape, Timestamp } from '../shape.ts'

/** The types of events that a reader can select. */
export const selectableEventTypes = [
  'connected',
  'disconnected',
  'status',
  'sample',
  'operation',
  'config',
  'structure',
  'incident',
  'job',
] as const
export type SelectableEventType = (typeof selectableEventTypes)[number]

/** Every reader gets `reset`, whatever types it selected, because it must read everything again after missed events. */
const eventTypes = [...selectableEventTypes, 'reset'] as const
export type EventType = (typeof eventTypes)[number]

/** In milliseconds: how long a reader should wait before it comes back, and how long a stream is silent at most. */
export const reconnectAfterMs = 2000
export const heartbeatMs = 15_000

export const Event = Shape('webpageEvent', {
  type: OneOf(
    eventTypes,
    'connected, disconnected, status, sample, operation and config are events of an endpoint. structure: a change that is in the audit log. incident: an incident opened, changed or ended. job: a job or some of its units changed. reset: events can be missing, so the client must read everything again.',
  ),
  at: Timestamp('Time of the event.'),
  roomIds: Type.Array(Int32('Identifier of a room.'), {
    description:
      'The rooms of the event; empty if the event is about no room, or about a whole location, region or organisation.',
  }),
  endpointId: Type.Optional(Type.String({ format: 'uuid', description: 'The endpoint of the event.' })),
  presence: Type.Optional(
    Shape('webpageEventPresence', {
      state: EndpointStateName,
      since: Type.Optional(Timestamp('Since when the device is online or offline; absent if it has not changed.')),
    }),
  ),
  sample: Type.Optional(Sample),
  measured: Measured,
  operation: Type.Optional(DeviceCommand),
  config: Type.Optional(
    Shape('webpageEventConfig', {
      version: Int32('Number of the version.'),
      state: OneOf(
        ['PENDING', 'DELIVERED', 'FAILED'],
        'PENDING: the version is new. DELIVERED: the device has applied it. FAILED: the device refused a key.',
      ),
    }),
  ),
  incident: Type.Optional(
    Shape('webpageEventIncident', {
      id: Type.String({ description: 'Identifier of the incident.' }),
      state: OneOf(incidentStates, 'State of the incident.'),
    }),
  ),
  job: Type.Optional(
    Shape('webpageEventJob', {
      id: Type.String({ description: 'Identifier of the job.' }),
      state: OneOf(jobStates, 'State of the job.'),
    }),
  ),
  change: Type.Optional(
    Shape('webpageEventChange', {
      id: Type.String({ description: 'Identifier of the entry in the audit log, which has the details.' }),
      type: Type.String({ description: 'The kind of change, for example LOCATION_CREATED.' }),
      target: Type.Optional(
        Shape('webpageEventTarget', { type: Type.String(), id: Type.String(), name: Type.String() }),
      ),
    }),
  ),
})
export type Event = Static<typeof Event>

export const eventOperations = {
  eventsStream: operation({
    method: 'GET',
    path: '/events',
    tag: 'Events',
    scope: 'read',
    summary: 'Follow events as Server-Sent Events',
    description:
      'The answer does not end. Send the id of the last event as the header `Last-Event-ID` to continue after it; if that is no longer possible, the first event is `reset`. The server disconnects a reader that is too slow. A browser cannot send the token with `EventSource`: use `fetch` and read its stream.',
    query: {
      types: Type.String({
        description: `Only events of these types, separated by commas: ${selectableEventTypes.join(', ')}. \`reset\` is always sent.`,
      }),
      regionId: Int32('Only events of this region.'),
      locationId: Int32('Only events of this location.'),
      roomId: Int32('Only events of this room.'),
      lastEventId: Type.String({
        description:
          'Replaces the header `Last-Event-ID` for clients that cannot set it; if both are sent, the header counts.',
      }),
    },
    stream: 'text/event-stream',
    response: Event,
    example: {
      query: { types: 'sample,connected', locationId: 3 },
      response: {
        type: 'sample',
        at: '2026-05-04T08:15:30.000Z',
        roomIds: [7],
        endpointId: exampleEndpointId,
        sample: {
          co2: 420,
          humidity: 36,
          illumination: 310,
          people: 4,
          temp: 22.5,
          voc: 502,
          vocIndex: 0,
          timestamp: '1777882530',
          ShutterClosed: false,
        },
        measured: ['co2', 'humidity', 'illumination', 'people', 'temp', 'voc'],
      },
    },
  }),
}

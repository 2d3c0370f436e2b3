// Channels: receivers of messages about incidents and events, and the deliveries to them. [contract 10.channel] [contract 10.delivery]
import Type from 'typebox'
import { defaultOverlapHours, maxHeartbeatMinutes, maxMailAddresses, maxOverlapHours } from '../incidents/limits.ts'
import { ruleIds, severities } from '../incidents/rule-table.ts'
import { hugeBodyBytes, mediumBodyBytes, operation, smallBodyBytes } from '../operation.ts'
import { Empty, Int32, ListOf, Name, OneOf, QueryTime, Shape, Timestamp } from '../shape.ts'
import { WeeklyHours } from '../weekly-hours.ts'
import { channelEvents, defaultChannelEvents, messageTypes } from './messages.ts'

export const channelKinds = ['webhook', 'email', 'teams', 'slack', 'pagerduty', 'people'] as const
export type ChannelKind = (typeof channelKinds)[number]
export const maxChannels = 50

export const deliveryStates = ['WAITING', 'DELIVERED', 'GIVEN_UP', 'CANCELLED'] as const
export type DeliveryState = (typeof deliveryStates)[number]

const id = Type.String({ description: 'Identifier of the channel.' })
const target = {
  url: Type.Optional(
    Type.String({
      maxLength: 2000,
      description:
        'The address that messages are sent to, for webhook, teams and slack; for pagerduty only if it is not the usual address. Path and query are secret; answers show `…` instead.',
    }),
  ),
  to: Type.Optional(
    Type.Array(Type.String({ maxLength: 254, format: 'email-address' }), {
      minItems: 1,
      maxItems: maxMailAddresses,
      description: 'The e-mail addresses of an e-mail channel.',
    }),
  ),
  routingKey: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'The integration key of PagerDuty. The key is secret; answers show `…` instead.',
    }),
  ),
}
const choices = {
  events: Type.Array(OneOf(channelEvents, 'A type of message.'), { maxItems: 20, uniqueItems: true }),
  minSeverity: OneOf(severities, 'No messages about incidents whose worst severity was lower; default WARNING.'),
  rules: Type.Array(OneOf(ruleIds, 'A rule.'), {
    maxItems: ruleIds.length,
    uniqueItems: true,
    description:
      'Rules of the incidents that messages are sent about; an empty list means all. Messages about other things are not affected.',
  }),
  regionIds: Type.Array(Int32('Identifier of a region.'), {
    maxItems: 100,
    description: 'Only messages about these regions; an empty list means all.',
  }),
  locationIds: Type.Array(Int32('Identifier of a location.'), {
    maxItems: 400,
    description: 'Only messages about these locations; an empty list means all.',
  }),
  enabled: Type.Boolean({
    description: 'Whether messages are sent. While a channel is disabled, its messages are kept for up to 30 days.',
  }),
}
const hours = WeeklyHours
const heartbeatMinutes = Type.Integer({
  minimum: 1,
  maximum: maxHeartbeatMinutes,
  description: 'Minutes between two heartbeat messages.',
})

export const Channel = Shape('Channel', {
  id,
  name: Type.String({ description: 'Name of the channel.' }),
  kind: OneOf(channelKinds, 'The kind of receiver.'),
  ...target,
  ...choices,
  hours: Type.Optional(hours),
  heartbeatMinutes: Type.Optional(heartbeatMinutes),
  disabledReason: Type.Optional(
    Type.String({ description: 'Reason why the service disabled the channel, and what to do.' }),
  ),
  waiting: Int32('How many messages wait to be sent.'),
  lastDeliveredAt: Type.Optional(Timestamp('Time at which a message was last delivered.')),
  lastError: Type.Optional(Type.String({ description: 'The error of the last attempt; absent after a success.' })),
})

const optional = {
  events: Type.Optional(choices.events),
  minSeverity: Type.Optional(choices.minSeverity),
  rules: Type.Optional(choices.rules),
  regionIds: Type.Optional(choices.regionIds),
  locationIds: Type.Optional(choices.locationIds),
  enabled: Type.Optional(choices.enabled),
  hours: Type.Optional(
    Type.Union([hours, Type.Null()], {
      description:
        'Hours in which messages are sent. Messages about CRITICAL incidents, heartbeats and tests are sent at any time. Null: all hours.',
    }),
  ),
  heartbeatMinutes: Type.Optional(
    Type.Union([heartbeatMinutes, Type.Null()], {
      description: 'Minutes between two heartbeats; null: no heartbeats.',
    }),
  ),
}

const example = {
  id: '2',
  name: 'Operations',
  kind: 'webhook',
  url: 'https://hooks.example.org/…',
  events: [...defaultChannelEvents],
  minSeverity: 'WARNING',
  rules: [],
  regionIds: [],
  locationIds: [],
  enabled: true,
  waiting: 0,
}
const secret = Type.String({ description: 'The secret that signs webhooks, `whsec_…`. It is not shown again.' })
const params = { id }

export const Delivery = Shape('Delivery', {
  id: Type.String({ description: 'Identifier of the message (`webhook-id`), the same in all attempts and replays.' }),
  type: OneOf(messageTypes, 'Type of the message.'),
  sequence: Int32('Number of the message in the channel, from 1, without gaps; 0 until the first attempt.'),
  state: OneOf(deliveryStates, 'State of the delivery.'),
  attempts: Int32('How many times the message was sent.'),
  nextAt: Type.Optional(Timestamp('Time of the next attempt.')),
  status: Type.Optional(Int32('The HTTP status of the last answer.')),
  error: Type.Optional(Type.String({ description: 'The error of the last attempt, in a few words.' })),
  incident: Type.Optional(
    Type.Object(
      {
        id: Type.String({ description: 'Identifier of the incident.' }),
        title: Type.String({ description: 'Present title of the incident.' }),
      },
      {
        description: 'The incident that the message is about; absent if it is about something else, or about many.',
        additionalProperties: false,
      },
    ),
  ),
  createdAt: Timestamp('Time of the cause of the message.'),
  deliveredAt: Type.Optional(Timestamp('Time of the delivery.')),
})
const delivery = {
  id: 'msg_2K3f9QmZ1x7LrT4vBnW8cY',
  type: 'incident.opened',
  sequence: 17,
  state: 'DELIVERED',
  attempts: 1,
  status: 204,
  incident: { id: '12', title: 'Fjord (Oslo) is offline' },
  createdAt: '2026-05-04T08:20:31.000Z',
  deliveredAt: '2026-05-04T08:21:31.000Z',
}

export const channelOperations = {
  channelsList: operation({
    method: 'GET',
    path: '/channels',
    tag: 'Channels',
    scope: 'read',
    manage: true,
    summary: 'List the channels',
    response: ListOf('ChannelList', 'channels', Channel),
    example: { response: { channels: [example] } },
  }),
  channelsGet: operation({
    method: 'GET',
    path: '/channels/{id}',
    tag: 'Channels',
    scope: 'read',
    manage: true,
    summary: 'Read one channel',
    params,
    response: Channel,
    versioned: true,
    example: { params: { id: '2' }, response: example },
  }),
  channelsCreate: operation({
    method: 'POST',
    path: '/channels',
    tag: 'Channels',
    scope: 'write',
    manage: true,
    summary: 'Add a channel; for a webhook the answer is the only place that shows its secret',
    body: Shape('ChannelsCreateRequest', {
      name: Name('channel'),
      kind: OneOf(channelKinds, 'The kind of receiver.'),
      ...target,
      ...optional,
    }),
    bodyLimitBytes: hugeBodyBytes,
    response: Shape('ChannelWithSecret', { ...Channel.properties, secret: Type.Optional(secret) }),
    versioned: true,
    repeat: 'secret',
    audit: { category: 'ORG', type: 'CHANNEL_CREATED' },
    example: {
      body: { name: 'Operations', kind: 'webhook', url: 'https://hooks.example.org/T02/B7' },
      response: { ...example, secret: 'whsec_…' },
    },
  }),
  channelsUpdate: operation({
    method: 'PUT',
    path: '/channels/{id}',
    tag: 'Channels',
    scope: 'write',
    manage: true,
    summary: 'Change a channel',
    description:
      'An absent key keeps its value. The change makes the oldest 1,000 waiting messages due immediately; the others follow after the next success.',
    params,
    body: Shape('ChannelsUpdateRequest', { name: Type.Optional(Name('channel')), ...target, ...optional }),
    bodyLimitBytes: hugeBodyBytes,
    response: Channel,
    versioned: true,
    ifMatch: true,
    audit: { category: 'ORG', type: 'CHANNEL_UPDATED' },
    example: {
      params: { id: '2' },
      body: { minSeverity: 'CRITICAL' },
      response: { ...example, minSeverity: 'CRITICAL' },
    },
  }),
  channelsDelete: operation({
    method: 'DELETE',
    path: '/channels/{id}',
    tag: 'Channels',
    scope: 'write',
    manage: true,
    summary: 'Delete a channel and its waiting messages',
    params,
    response: Empty,
    ifMatch: true,
    audit: { category: 'ORG', type: 'CHANNEL_DELETED' },
    example: { params: { id: '2' }, response: {} },
  }),
  channelsTest: operation({
    method: 'POST',
    path: '/channels/{id}/test',
    tag: 'Channels',
    scope: 'write',
    manage: true,
    summary: 'Send a test message',
    description: 'The answer comes after the first attempt, at the latest after 15 seconds.',
    params,
    response: Delivery,
    repeat: 'later',
    audit: { category: 'ORG', type: 'CHANNEL_TESTED' },
    example: { params: { id: '2' }, response: { ...delivery, type: 'test' } },
  }),
  channelsRotateSecret: operation({
    method: 'POST',
    path: '/channels/{id}/rotate_secret',
    tag: 'Channels',
    scope: 'write',
    manage: true,
    summary: 'Give a webhook a new secret; the old one also signs for a time',
    params,
    body: Shape('ChannelsRotateSecretRequest', {
      overlapHours: Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: maxOverlapHours,
          description: `Hours for which the old secret signs too; default ${defaultOverlapHours}.`,
        }),
      ),
    }),
    bodyLimitBytes: smallBodyBytes,
    response: Shape('ChannelSecret', { secret }),
    ifMatch: true,
    repeat: 'secret',
    audit: { category: 'ORG', type: 'CHANNEL_SECRET_ROTATED' },
    example: { params: { id: '2' }, body: {}, response: { secret: 'whsec_…' } },
  }),
  deliveriesList: operation({
    method: 'GET',
    path: '/channels/{id}/deliveries',
    tag: 'Channels',
    scope: 'read',
    manage: true,
    summary: 'List the sent and the waiting messages of a channel, newest first',
    description: 'Messages are kept for 30 days. An empty `nextPageToken` ends the paging.',
    params,
    query: {
      state: OneOf(deliveryStates, 'Only deliveries in this state.'),
      from: QueryTime('Start of the window, inclusive.'),
      to: QueryTime('End of the window, exclusive.'),
      pageSize: Int32('Deliveries per page: 0 or absent means 100, more than 1000 means 1000.'),
      pageToken: Type.String({ description: 'The `nextPageToken` of the page before; only with the same query.' }),
    },
    response: Shape('DeliveryList', {
      deliveries: Type.Array(Delivery),
      nextPageToken: Type.String({ description: 'Token of the next page; empty on the last page.' }),
    }),
    example: { params: { id: '2' }, response: { deliveries: [delivery], nextPageToken: '' } },
  }),
  deliveriesReplay: operation({
    method: 'POST',
    path: '/channels/{id}/replay',
    tag: 'Channels',
    scope: 'write',
    manage: true,
    summary: 'Send messages of a time window again',
    params,
    body: Shape('DeliveriesReplayRequest', {
      from: Timestamp('Start of the window, inclusive.'),
      to: Type.Optional(Timestamp('End of the window, exclusive; default now.')),
      states: Type.Optional(
        Type.Array(OneOf(deliveryStates, 'A state.'), {
          maxItems: 4,
          uniqueItems: true,
          description: 'Only messages in these states; default GIVEN_UP and DELIVERED.',
        }),
      ),
    }),
    bodyLimitBytes: mediumBodyBytes,
    response: Shape('ReplayResult', { count: Int32('How many messages are sent again, 10,000 at most.') }),
    audit: { category: 'ORG', type: 'DELIVERIES_REPLAYED' },
    example: { params: { id: '2' }, body: { from: '2026-05-04T00:00:00Z' }, response: { count: 12 } },
  }),
}

// Operations: commands to devices, and their state. [contract 5.4.operation] [contract 6.operations]

import Type from 'typebox'
import { minuteMs } from '../durations.ts'
import { largeBodyBytes, operation, smallBodyBytes } from '../operation.ts'
import { Empty, Int32, ListOf, MultilineText, OneOf, Shape, Timestamp } from '../shape.ts'
import { EndpointIds, exampleEndpointId } from './endpoints.ts'

export const commandTypes = ['REBOOT', 'MESSAGE', 'COLLECT_LOGS', 'POWER'] as const
/** When a reboot may happen. [contract 12.when] */
export const rebootTimes = ['now', 'idle', 'window'] as const
export type RebootTime = (typeof rebootTimes)[number]
/** Conditions that an operation waits for before it is sent. */
export const operationWaits = ['idle', 'window', 'connection'] as const
export type OperationWait = (typeof operationWaits)[number]
export type CommandType = (typeof commandTypes)[number]

/** A reboot, a message or a switch of the power that is not done in this time expires. [contract 8.operations] */
export const commandDeadlineMs = 5 * minuteMs
/** A device that disconnects because of a reboot has this long to come back before it counts as offline. [contract 12.when] */
export const restartGraceMs = 10 * minuteMs

/** States only move forward: from an open one to a later open one, or to a final one, and stay there. */
export const openCommandStates = ['QUEUED', 'SENT', 'ACKNOWLEDGED'] as const
const finalStates = ['SUCCEEDED', 'FAILED', 'EXPIRED', 'CANCELLED', 'SKIPPED'] as const
const operationStates = [...openCommandStates, ...finalStates] as const
export type CommandState = (typeof operationStates)[number]

const id = Type.String({ format: 'uuid', description: 'Identifier of the operation.' })
const endpointId = Type.String({ format: 'uuid', description: 'Identifier of the endpoint.' })

export const DeviceCommand = Shape('webpageOperation', {
  id,
  type: OneOf(commandTypes, 'The command to the device.'),
  endpointId,
  state: OneOf(
    operationStates,
    'QUEUED: the operation waits for the device. SENT: it was sent. ACKNOWLEDGED: the device has received it. Final states: SUCCEEDED, FAILED, EXPIRED (the deadline passed), CANCELLED, SKIPPED (the device was offline, or cannot do it).',
  ),
  createdAt: Timestamp('Time at which the operation was created.'),
  updatedAt: Timestamp('Time at which the state of the operation last changed.'),
  deadline: Timestamp('Time at which the operation expires if it is not finished.'),
  error: Type.Optional(Type.String({ description: 'Reason why the operation failed or was skipped.' })),
  waitsFor: Type.Optional(
    OneOf(operationWaits, 'Reason why the operation is not sent yet; absent if it does not wait.'),
  ),
})
const Operations = ListOf('webpageOperationList', 'operations', DeviceCommand)

const example = {
  id: '0b0f3c52-6d3c-4c3e-8c55-0d5b5f0e8f10',
  type: 'REBOOT',
  endpointId: exampleEndpointId,
  state: 'QUEUED',
  createdAt: '2026-05-04T08:15:30.000Z',
  updatedAt: '2026-05-04T08:15:30.000Z',
  deadline: '2026-05-04T08:20:30.000Z',
}
const message = MultilineText(1024, 'The text for the screen.')

export const deviceCommandOperations = {
  endpointsReboot: operation({
    method: 'POST',
    path: '/endpoints/{id}/reboot',
    tag: 'Endpoints',
    scope: 'write',
    operate: true,
    summary: 'Reboot an endpoint and everything paired with it',
    description:
      'Without `when` the endpoint must be connected; a paired endpoint that is not connected is listed as SKIPPED. With `idle` the operation waits until all rooms of the pair group are idle, with `window` until they are also in their change windows.',
    params: { id: endpointId },
    body: Shape('RebootRequest', {
      when: Type.Optional(
        OneOf(
          rebootTimes,
          'now; idle: when the rooms are not in use; window: also in the change window of their location.',
        ),
      ),
      withinHours: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 168, description: 'Hours after which the operation expires; default 24.' }),
      ),
    }),
    bodyLimitBytes: smallBodyBytes,
    optionalBody: 'any value',
    response: Operations,
    audit: { category: 'DEVICE', type: 'DEVICE_REBOOT_REQUESTED' },
    example: { params: { id: exampleEndpointId }, body: { when: 'now' }, response: { operations: [example] } },
  }),
  endpointsPower: operation({
    method: 'POST',
    path: '/endpoints/{id}/power',
    tag: 'Endpoints',
    scope: 'write',
    operate: true,
    summary: 'Switch an endpoint on or off',
    description:
      'The device must have the action power and be connected. The operation has succeeded when `power` of the endpoint shows it. For an endpoint that is asleep the operation is SKIPPED.',
    params: { id: endpointId },
    body: Shape('PowerRequest', { on: Type.Boolean({ description: 'True switches on, false switches off.' }) }),
    bodyLimitBytes: smallBodyBytes,
    response: Operations,
    audit: { category: 'DEVICE', type: 'DEVICE_POWER_REQUESTED' },
    example: {
      params: { id: exampleEndpointId },
      body: { on: false },
      response: { operations: [{ ...example, type: 'POWER' }] },
    },
  }),
  endpointsSendMessage: operation({
    method: 'POST',
    path: '/endpoints/send_message',
    tag: 'Endpoints',
    scope: 'write',
    operate: true,
    summary: 'Show a message on the screens of endpoints',
    description: 'An endpoint that is offline gets the message if it reconnects within 5 minutes.',
    body: Shape('SendEndpointMessageRequest', { message, endpointIds: EndpointIds }),
    bodyLimitBytes: largeBodyBytes,
    response: Operations,
    audit: { category: 'DEVICE', type: 'DEVICE_MESSAGE_SENT' },
    example: {
      body: { message: 'Please leave the room as you found it.', endpointIds: [exampleEndpointId] },
      response: { operations: [{ ...example, type: 'MESSAGE' }] },
    },
  }),
  roomsSendMessage: operation({
    method: 'POST',
    path: '/rooms/send_message',
    tag: 'Rooms',
    scope: 'write',
    operate: true,
    summary: 'Show a message on every screen in rooms',
    description: 'An endpoint that is offline gets the message if it reconnects within 5 minutes.',
    body: Shape('SendRoomMessageRequest', {
      message,
      roomIds: Type.Array(Int32('Identifier of a room.'), { minItems: 1, maxItems: 1000 }),
    }),
    bodyLimitBytes: largeBodyBytes,
    response: Operations,
    audit: { category: 'DEVICE', type: 'DEVICE_MESSAGE_SENT' },
    example: {
      body: { message: 'Fire drill at noon.', roomIds: [7] },
      response: { operations: [{ ...example, type: 'MESSAGE' }] },
    },
  }),
  endpointsOperationsList: operation({
    method: 'GET',
    path: '/endpoints/{id}/operations',
    tag: 'Operations',
    scope: 'read',
    command: 'endpoints operations',
    summary: 'List the newest 200 operations of an endpoint, newest first',
    params: { id: endpointId },
    response: Operations,
    example: { params: { id: exampleEndpointId }, response: { operations: [example] } },
  }),
  operationsList: operation({
    method: 'GET',
    path: '/operations',
    tag: 'Operations',
    scope: 'read',
    summary: 'List the operations that are not finished, newest first',
    description: 'The answer has the operations that are QUEUED, SENT or ACKNOWLEDGED, at most 1000.',
    response: Operations,
    example: { response: { operations: [example] } },
  }),
  operationsGet: operation({
    method: 'GET',
    path: '/operations/{id}',
    tag: 'Operations',
    scope: 'read',
    summary: 'Read one operation',
    params: { id },
    response: DeviceCommand,
    example: { params: { id: example.id }, response: example },
  }),
  operationsCancel: operation({
    method: 'DELETE',
    path: '/operations/{id}',
    tag: 'Operations',
    scope: 'write',
    operate: true,
    summary: 'Cancel an operation that was not sent yet',
    params: { id },
    response: Empty,
    audit: { category: 'DEVICE', type: 'DEVICE_OPERATION_CANCELLED' },
    example: { params: { id: example.id }, response: {} },
  }),
}

// Operations: one function for each operation of the API that asks devices for something. [contract 6.operations]

import { randomUUID } from 'node:crypto'
import type { OperationState, OperationType } from '../../../contract/device-commands.ts'
import type { By } from '../../context/request-context.ts'
import { allFound, Failure, found } from '../../core/failure.ts'
import type { Tx } from '../../db/db.ts'
import type { InputOf } from '../../http/handlers.ts'
import { change, ref } from '../audit/change.ts'
import {
  findEndpoint,
  listEndpointsById,
  listEndpointsInRooms,
  listPairedEndpoints,
  type PlacedEndpoint,
} from '../endpoints/store.ts'
import { endpointRef } from '../endpoints/view.ts'
import { listRoomsById } from '../rooms/store.ts'
import { cancelQueuedOperation, findOperation, insertOperations, listOperationsOf } from './store.ts'
import { newOperationViews, operationDraft, operationView } from './view.ts'

/** Whatever came too late to be of use is not done. */
const timeToLive = 5 * 60_000
const mostListed = 200

/** The endpoint first, then everything that is paired with it. [contract 4.endpointsReboot] */
export async function endpointsReboot(by: By, id: string) {
  const operations = await change(by, 'endpointsReboot', async (tx) => {
    const endpoint = found(await findEndpoint(tx, by.org.key, id), `endpoint ${id}`)
    if (endpoint.connected === 0) {
      throw new Failure(
        'FAILED_PRECONDITION',
        `endpoint ${id} is not connected, so nothing was rebooted. Try again when it is back.`,
      )
    }
    const group = await listPairedEndpoints(tx, by.org.key, [id])
    const others = group.filter((e) => e.id !== id)
    return {
      result: await ask(tx, by, 'REBOOT', {}, [endpoint, ...others], (e) => (e.connected ? 'QUEUED' : 'SKIPPED')),
      target: endpointRef(endpoint),
      affected: others.map(endpointRef),
    }
  })
  return sent(by, operations)
}

export async function endpointsSendMessage(by: By, { message, endpointIds }: InputOf<'endpointsSendMessage'>['body']) {
  const operations = await change(by, 'endpointsSendMessage', async (tx) => {
    const wanted = [...new Set(endpointIds)]
    const endpoints = allFound('endpointIds', 'endpoint', wanted, await listEndpointsById(tx, by.org.key, wanted))
    return {
      result: await ask(tx, by, 'MESSAGE', { message }, endpoints),
      target: endpointRef(endpoints[0]),
      after: { message },
      affected: endpoints.slice(1).map(endpointRef),
    }
  })
  return sent(by, operations)
}

export async function roomsSendMessage(by: By, { message, roomIds }: InputOf<'roomsSendMessage'>['body']) {
  const operations = await change(by, 'roomsSendMessage', async (tx) => {
    const wanted = [...new Set(roomIds)]
    const rooms = allFound('roomIds', 'room', wanted, await listRoomsById(tx, by.org.key, wanted))
    const endpoints = await listEndpointsInRooms(tx, by.org.key, wanted)
    return {
      result: await ask(tx, by, 'MESSAGE', { message }, endpoints),
      target: ref('room', rooms[0]),
      after: { message },
      affected: [...rooms.slice(1).map((r) => ref('room', r)), ...endpoints.map(endpointRef)],
    }
  })
  return sent(by, operations)
}

export async function endpointsOperationsList(by: By, id: string) {
  found(await findEndpoint(by.ground.db, by.org.key, id), `endpoint ${id}`)
  const rows = await listOperationsOf(by.ground.db, by.org.key, id, mostListed)
  return { operations: rows.map(operationView) }
}

export const operationsGet = async (by: By, id: string) =>
  operationView(found(await findOperation(by.ground.db, by.org.key, id), `operation ${id}`))

/** What is on its way cannot be called back. [contract 6.operations] */
export const operationsCancel = (by: By, id: string) =>
  change(by, 'operationsCancel', async (tx) => {
    const cancelled = await cancelQueuedOperation(tx, by.org.key, id, by.ground.clock.now())
    if (!cancelled) {
      const { state } = found(await findOperation(tx, by.org.key, id), `operation ${id}`)
      throw new Failure(
        'FAILED_PRECONDITION',
        `operation ${id} is ${state}: ${tooLate[state as keyof typeof tooLate]}. Only a QUEUED one can be cancelled.`,
      )
    }
    tx.announced.push(operationDraft(operationView(cancelled)))
    const { type, endpoint_id } = cancelled
    const [endpoint] = await listEndpointsById(tx, by.org.key, [endpoint_id])
    return {
      result: {},
      target: endpointRef(endpoint ?? { id: endpoint_id, serial: '' }),
      before: { operationId: id, type, state: 'QUEUED' },
      after: { operationId: id, type, state: 'CANCELLED' },
    }
  })

const tooLate: Record<Exclude<OperationState, 'QUEUED'>, string> = {
  SENT: 'it is on its way to the device',
  ACKNOWLEDGED: 'the device has it already',
  SUCCEEDED: 'the device has done it',
  FAILED: 'the device has tried it',
  EXPIRED: 'its deadline has passed, and nothing more will happen',
  CANCELLED: 'it was cancelled before',
  SKIPPED: 'the device was offline and was never asked',
}

/** Writes an operation for each of them, before anything is sent. */
async function ask<E extends Pick<PlacedEndpoint, 'id' | 'connected'>>(
  tx: Tx,
  by: By,
  type: OperationType,
  payload: object,
  endpoints: readonly E[],
  stateOf: (endpoint: E) => OperationState = () => 'QUEUED',
) {
  const at = by.ground.clock.now()
  const deadline = at + timeToLive
  const rows = endpoints.map((e) => ({ id: randomUUID(), endpoint_id: e.id, state: stateOf(e) }))
  const batch = { org: by.org.key, type, payload: JSON.stringify(payload), at, deadline }
  await insertOperations(tx, batch, rows)
  const operations = newOperationViews(batch, rows)
  tx.announced.push(...operations.map((o) => operationDraft(o)))
  return operations
}

/** After the commit: those that are connected get it now. */
function sent(by: By, operations: readonly ReturnType<typeof operationView>[]) {
  by.ground.devices.wake(operations.filter((o) => o.state === 'QUEUED').map((o) => o.endpointId))
  return { operations: [...operations] }
}

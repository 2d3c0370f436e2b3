// Operations: one function for each operation of the API that asks devices for something. [contract 6.operations]

import { randomUUID } from 'node:crypto'
import type { CommandState, CommandType } from '../../../contract/device-commands.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { Failure, mustFind, mustFindAll } from '../../core/failure.ts'
import type { Tx } from '../../db/handles.ts'
import type { InputOf } from '../../http/handlers.ts'
import { auditRef, change } from '../audit/change.ts'
import {
  type EndpointSummary,
  findEndpoint,
  listEndpointsById,
  listEndpointsInRooms,
  listPairedEndpoints,
} from '../endpoints/store.ts'
import { endpointRef } from '../endpoints/view.ts'
import { listRoomsById } from '../rooms/store.ts'
import { cancelQueuedCommand, findCommand, insertCommands, listCommandsOf } from './store.ts'
import { commandEventDraft, commandView, newCommandViews } from './view.ts'

/** Whatever came too late to be of use is not done. */
const timeToLive = 5 * 60_000
const mostListed = 200

/** The endpoint first, then everything that is paired with it. [contract 4.endpointsReboot] */
export async function endpointsReboot(ctx: RequestContext, id: string) {
  const operations = await change(ctx, 'endpointsReboot', async (tx) => {
    const endpoint = mustFind(await findEndpoint(tx, id), `endpoint ${id}`)
    if (endpoint.connected === 0) {
      throw new Failure(
        'FAILED_PRECONDITION',
        `endpoint ${id} is not connected, so nothing was rebooted. Try again when it is back.`,
      )
    }
    const group = await listPairedEndpoints(tx, [id])
    const others = group.filter((e) => e.id !== id)
    return {
      result: await ask(tx, ctx, 'REBOOT', {}, [endpoint, ...others], (e) => (e.connected ? 'QUEUED' : 'SKIPPED')),
      target: endpointRef(endpoint),
      affected: others.map(endpointRef),
    }
  })
  return sent(ctx, operations)
}

export async function endpointsSendMessage(
  ctx: RequestContext,
  { message, endpointIds }: InputOf<'endpointsSendMessage'>['body'],
) {
  const operations = await change(ctx, 'endpointsSendMessage', async (tx) => {
    const wanted = [...new Set(endpointIds)]
    const endpoints = mustFindAll('endpointIds', 'endpoint', wanted, await listEndpointsById(tx, wanted))
    return {
      result: await ask(tx, ctx, 'MESSAGE', { message }, endpoints),
      target: endpointRef(endpoints[0]),
      after: { message },
      affected: endpoints.slice(1).map(endpointRef),
    }
  })
  return sent(ctx, operations)
}

export async function roomsSendMessage(ctx: RequestContext, { message, roomIds }: InputOf<'roomsSendMessage'>['body']) {
  const operations = await change(ctx, 'roomsSendMessage', async (tx) => {
    const wanted = [...new Set(roomIds)]
    const rooms = mustFindAll('roomIds', 'room', wanted, await listRoomsById(tx, { ids: wanted }))
    const endpoints = await listEndpointsInRooms(tx, { rooms: wanted })
    return {
      result: await ask(tx, ctx, 'MESSAGE', { message }, endpoints),
      target: auditRef('room', rooms[0]),
      after: { message },
      affected: [...rooms.slice(1).map((r) => auditRef('room', r)), ...endpoints.map(endpointRef)],
    }
  })
  return sent(ctx, operations)
}

export async function endpointsOperationsList(ctx: RequestContext, id: string) {
  mustFind(await findEndpoint(ctx.db, id), `endpoint ${id}`)
  const rows = await listCommandsOf(ctx.db, { endpoint: id, limit: mostListed })
  return { operations: rows.map(commandView) }
}

export const operationsGet = async (ctx: RequestContext, id: string) =>
  commandView(mustFind(await findCommand(ctx.db, id), `operation ${id}`))

/** What is on its way cannot be called back. [contract 6.operations] */
export const operationsCancel = (ctx: RequestContext, id: string) =>
  change(ctx, 'operationsCancel', async (tx) => {
    const cancelled = await cancelQueuedCommand(tx, id, ctx.clock.now())
    if (!cancelled) {
      const { state } = mustFind(await findCommand(tx, id), `operation ${id}`)
      throw new Failure(
        'FAILED_PRECONDITION',
        `operation ${id} is ${state}: ${tooLate[state as keyof typeof tooLate]}. Only a QUEUED one can be cancelled.`,
      )
    }
    tx.drafts.push(commandEventDraft(commandView(cancelled)))
    const { type, endpoint_id } = cancelled
    const [endpoint] = await listEndpointsById(tx, [endpoint_id])
    return {
      result: {},
      target: endpointRef(endpoint ?? { id: endpoint_id, serial: '' }),
      before: { operationId: id, type, state: 'QUEUED' },
      after: { operationId: id, type, state: 'CANCELLED' },
    }
  })

const tooLate: Record<Exclude<CommandState, 'QUEUED'>, string> = {
  SENT: 'it is on its way to the device',
  ACKNOWLEDGED: 'the device has it already',
  SUCCEEDED: 'the device has done it',
  FAILED: 'the device has tried it',
  EXPIRED: 'its deadline has passed, and nothing more will happen',
  CANCELLED: 'it was cancelled before',
  SKIPPED: 'the device was offline and was never asked',
}

/** Writes an operation for each of them, before anything is sent. */
async function ask<E extends Pick<EndpointSummary, 'id' | 'connected'>>(
  tx: Tx,
  ctx: RequestContext,
  type: CommandType,
  payload: object,
  endpoints: readonly E[],
  stateOf: (endpoint: E) => CommandState = () => 'QUEUED',
) {
  const at = ctx.clock.now()
  const deadline = at + timeToLive
  const rows = endpoints.map((e) => ({ id: randomUUID(), endpoint_id: e.id, state: stateOf(e) }))
  const batch = { org: ctx.org.key, type, payload: JSON.stringify(payload), at, deadline }
  await insertCommands(tx, batch, rows)
  const operations = newCommandViews(batch, rows)
  tx.drafts.push(...operations.map((o) => commandEventDraft(o)))
  return operations
}

/** After the commit: those that are connected get it now. */
function sent(ctx: RequestContext, operations: readonly ReturnType<typeof commandView>[]) {
  ctx.devices.wake(operations.filter((o) => o.state === 'QUEUED').map((o) => o.endpointId))
  return { operations: [...operations] }
}

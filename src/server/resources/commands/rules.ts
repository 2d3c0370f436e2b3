// The rules of device commands, one function for each operation of the API. [contract 6.operations]

import { randomUUID } from 'node:crypto'
import type { CommandState, CommandType } from '../../../contract/device/commands.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { Failure, mustFind, mustFindAll } from '../../core/failure.ts'
import type { Tx } from '../../db/handles.ts'
import type { InputOf } from '../../http/handlers.ts'
import { change } from '../audit/change.ts'
import { auditRef } from '../audit/changed.ts'
import { requireVisibleGroups } from '../endpoints/pair-groups.ts'
import { type EndpointSummary, findEndpoint, listEndpointsById, listEndpointsInRooms } from '../endpoints/store.ts'
import { endpointRef } from '../endpoints/view.ts'
import { listRoomsById } from '../rooms/store.ts'
import { cancelQueuedCommand, findCommand, insertCommands, listCommandsOf } from './store.ts'
import { commandEventDraft, commandView, newCommandViews } from './view.ts'

/** A command that the device does not get in this time is of no use any more and expires. */
const commandDeadlineMs = 5 * 60_000
const maxListedCommands = 200

/** The answer names the endpoint first, then everything that is paired with it. [contract 4.endpointsReboot] */
export async function endpointsReboot(ctx: RequestContext, id: string) {
  const commands = await change(ctx, 'endpointsReboot', async (tx) => {
    const endpoint = mustFind(await findEndpoint(tx, id), `endpoint ${id}`)
    if (endpoint.connected === 0) {
      throw new Failure(
        'FAILED_PRECONDITION',
        `endpoint ${id} is not connected, so nothing was rebooted. Try again when it is back.`,
      )
    }
    const group = await requireVisibleGroups(tx, [id])
    const others = group.filter((e) => e.id !== id)
    return {
      result: await insertFor(tx, ctx, 'REBOOT', {}, [endpoint, ...others], (e) =>
        e.connected ? 'QUEUED' : 'SKIPPED',
      ),
      target: endpointRef(endpoint),
      affected: others.map(endpointRef),
    }
  })
  return deliver(ctx, commands)
}

export async function endpointsSendMessage(
  ctx: RequestContext,
  { message, endpointIds }: InputOf<'endpointsSendMessage'>['body'],
) {
  const commands = await change(ctx, 'endpointsSendMessage', async (tx) => {
    const ids = [...new Set(endpointIds)]
    const endpoints = mustFindAll('endpointIds', 'endpoint', ids, await listEndpointsById(tx, ids))
    return {
      result: await insertFor(tx, ctx, 'MESSAGE', { message }, endpoints),
      target: endpointRef(endpoints[0]),
      after: { message },
      affected: endpoints.slice(1).map(endpointRef),
    }
  })
  return deliver(ctx, commands)
}

export async function roomsSendMessage(ctx: RequestContext, { message, roomIds }: InputOf<'roomsSendMessage'>['body']) {
  const commands = await change(ctx, 'roomsSendMessage', async (tx) => {
    const ids = [...new Set(roomIds)]
    const rooms = mustFindAll('roomIds', 'room', ids, await listRoomsById(tx, { ids }))
    const endpoints = await listEndpointsInRooms(tx, { rooms: ids })
    return {
      result: await insertFor(tx, ctx, 'MESSAGE', { message }, endpoints),
      target: auditRef('room', rooms[0]),
      after: { message },
      affected: [...rooms.slice(1).map((r) => auditRef('room', r)), ...endpoints.map(endpointRef)],
    }
  })
  return deliver(ctx, commands)
}

export async function endpointsOperationsList(ctx: RequestContext, id: string) {
  mustFind(await findEndpoint(ctx.db, id), `endpoint ${id}`)
  const rows = await listCommandsOf(ctx.db, { endpoint: id, limit: maxListedCommands })
  return { operations: rows.map(commandView) }
}

export const operationsGet = async (ctx: RequestContext, id: string) =>
  commandView(mustFind(await findCommand(ctx.db, id), `operation ${id}`))

/** A command that was sent cannot be cancelled. [contract 6.operations] */
export const operationsCancel = (ctx: RequestContext, id: string) =>
  change(ctx, 'operationsCancel', async (tx) => {
    const cancelled = await cancelQueuedCommand(tx, id, ctx.clock.now())
    if (!cancelled) {
      const { state } = mustFind(await findCommand(tx, id), `operation ${id}`)
      throw new Failure(
        'FAILED_PRECONDITION',
        `operation ${id} is ${state}: ${reasonsNotCancellable[state as keyof typeof reasonsNotCancellable]}. Only a QUEUED one can be cancelled.`,
      )
    }
    tx.drafts.push(commandEventDraft(commandView(cancelled)))
    const { type, endpoint_id } = cancelled
    const [endpoint] = await listEndpointsById(tx, [endpoint_id])
    // The cancellation is rolled back if the caller does not see the endpoint.
    if (!tx.access.isEverything) mustFind(endpoint, `operation ${id}`)
    return {
      result: {},
      target: endpointRef(endpoint ?? { id: endpoint_id, serial: '' }),
      before: { operationId: id, type, state: 'QUEUED' },
      after: { operationId: id, type, state: 'CANCELLED' },
    }
  })

const reasonsNotCancellable: Record<Exclude<CommandState, 'QUEUED'>, string> = {
  SENT: 'it is on its way to the device',
  ACKNOWLEDGED: 'the device has it already',
  SUCCEEDED: 'the device has done it',
  FAILED: 'the device has tried it',
  EXPIRED: 'its deadline has passed, and nothing more will happen',
  CANCELLED: 'it was cancelled before',
  SKIPPED: 'the device was offline and was never asked',
}

/** Inserts a command for each endpoint. `deliver` sends them after the commit. */
async function insertFor<E extends Pick<EndpointSummary, 'id' | 'connected'>>(
  tx: Tx,
  ctx: RequestContext,
  type: CommandType,
  payload: object,
  endpoints: readonly E[],
  stateOf: (endpoint: E) => CommandState = () => 'QUEUED',
) {
  const at = ctx.clock.now()
  const deadline = at + commandDeadlineMs
  const rows = endpoints.map((e) => ({ id: randomUUID(), endpoint_id: e.id, state: stateOf(e) }))
  const batch = { org: ctx.org.key, type, payload: JSON.stringify(payload), at, deadline }
  await insertCommands(tx, batch, rows)
  const commands = newCommandViews(batch, rows)
  tx.drafts.push(...commands.map((command) => commandEventDraft(command)))
  return commands
}

/** Wakes the devices after the commit, so that connected ones get their command now. */
function deliver(ctx: RequestContext, commands: readonly ReturnType<typeof commandView>[]) {
  ctx.devices.wake(commands.filter(({ state }) => state === 'QUEUED').map(({ endpointId }) => endpointId))
  return { operations: [...commands] }
}

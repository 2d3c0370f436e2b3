// The rules of device commands, one function for each operation of the API. [contract 6.operations]

import { hourMs, minuteMs } from '../../../contract/durations.ts'
import { type CommandState, type CommandType, commandDeadlineMs } from '../../../contract/fleet/commands.ts'
import type { InputOf } from '../../context/handlers.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { Failure, mustFind, mustFindAll } from '../../core/failure.ts'
import type { Tx } from '../../db/handles.ts'
import { change } from '../../journal/audit/change.ts'
import { auditRef } from '../../journal/audit/change-result.ts'
import { type DescribedDevice, requireAction } from '../endpoints/device-actions.ts'
import { queueFinishedCommands } from '../endpoints/endpoint-messages.ts'
import { endpointRef } from '../endpoints/fields.ts'
import { requireVisibleGroups } from '../endpoints/pair-groups.ts'
import {
  type EndpointSummary,
  findEndpoint,
  findShownEndpoint,
  listEndpointsById,
  listEndpointsInRooms,
} from '../endpoints/store.ts'
import { listRoomsById } from '../rooms/store.ts'
import { cancelGroups } from './deferred/cancel-groups.ts'
import { deleteAttemptsOf, findWaitingReboot, hasOpenAttempt } from './deferred/deferred-store.ts'
import { insertDeferredReboots } from './deferred/insert-deferred.ts'
import { type NewCommandState, newCommandRows, queued, skippedAsleep, skippedOffline } from './new-commands.ts'
import { powerPayload } from './power.ts'
import { cancelQueuedCommand, findCommand, insertCommands, listCommandsOf, listOpenCommands } from './store.ts'
import { commandEventDraft, commandView, newCommandViews } from './view.ts'

const defaultWithinHours = 24
const maxListedCommands = 200
const maxOpenCommands = 1000

/** The answer names the endpoint first, then everything that is paired with it. [contract 4.endpointsReboot] */
export function endpointsReboot(
  ctx: RequestContext,
  id: string,
  { when = 'now', withinHours = defaultWithinHours }: InputOf<'endpointsReboot'>['body'] = {},
) {
  if (when !== 'now') return rebootLater(ctx, id, when, withinHours)
  return change(ctx, 'endpointsReboot', async (tx) => {
    const endpoint = mustFind(await findEndpoint(tx, { id }), `endpoint ${id}`)
    requireAction(endpoint, 'reboot')
    if (endpoint.connected === 0) {
      throw new Failure(
        'FAILED_PRECONDITION',
        `endpoint ${id} is not connected, so nothing was rebooted. Try again when it is back.`,
      )
    }
    const group = await requireVisibleGroups(tx, [id])
    const others = group.filter((e) => e.id !== id)
    const commands = await insertCommandsFor(tx, ctx, 'REBOOT', {}, [endpoint, ...others], (e) =>
      e.connected ? queued : skippedOffline,
    )
    return {
      ...answerThatWakes(ctx, commands),
      target: endpointRef(endpoint),
      affected: others.map(endpointRef),
    }
  })
}

/** The reboot waits for the rooms of the whole pair group, and for a connection of the endpoint. [contract 12.when] */
const rebootLater = (ctx: RequestContext, id: string, time: 'idle' | 'window', withinHours: number) =>
  change(ctx, 'endpointsReboot', async (tx) => {
    const endpoint = mustFind(await findEndpoint(tx, { id }), `endpoint ${id}`)
    requireAction(endpoint, 'reboot')
    const others = (await requireVisibleGroups(tx, [id])).filter((e) => e.id !== id)
    await refuseSecondWait(tx, [endpoint, ...others])
    const at = ctx.clock.now()
    const deadline = at + withinHours * hourMs
    return {
      result: { operations: await insertDeferredReboots(tx, [endpoint, ...others], { time, at, deadline }) },
      target: endpointRef(endpoint),
      after: { when: time, withinHours },
      affected: others.map(endpointRef),
    }
  })

/** An endpoint that is asleep cannot be reached, which is not an error: its operation is SKIPPED. [contract 8.power] */
export const endpointsPower = (ctx: RequestContext, id: string, { on }: InputOf<'endpointsPower'>['body']) =>
  change(ctx, 'endpointsPower', async (tx) => {
    const endpoint = mustFind(await findEndpoint(tx, { id }), `endpoint ${id}`)
    requireAction(endpoint, 'power')
    const shown = await findShownEndpoint(tx, { ...ctx.presenceTimes, id })
    const sleeps = shown?.state === 'ASLEEP'
    if (endpoint.connected === 0 && !sleeps) {
      throw new Failure(
        'FAILED_PRECONDITION',
        `endpoint ${id} is not connected, so nothing was switched. Try again when it is back.`,
      )
    }
    const stateOf = () => (sleeps ? skippedAsleep : queued)
    return {
      ...answerThatWakes(ctx, await insertCommandsFor(tx, ctx, 'POWER', powerPayload(on), [endpoint], stateOf)),
      target: endpointRef(endpoint),
      after: { on },
    }
  })

/** Two reboots that wait would restart the device twice. */
async function refuseSecondWait(tx: Tx, group: readonly Pick<EndpointSummary, 'id'>[]): Promise<void> {
  const waiting = await findWaitingReboot(tx, { endpoints: group.map(({ id }) => id) })
  if (!waiting) return
  throw new Failure(
    'FAILED_PRECONDITION',
    `a reboot of endpoint ${waiting.endpoint_id} waits already: operation ${waiting.id}. Cancel that one first to choose another time.`,
  )
}

export const endpointsSendMessage = (
  ctx: RequestContext,
  { message, endpointIds }: InputOf<'endpointsSendMessage'>['body'],
) =>
  change(ctx, 'endpointsSendMessage', async (tx) => {
    const ids = [...new Set(endpointIds)]
    const endpoints = mustFindAll('endpointIds', 'endpoint', ids, await listEndpointsById(tx, { ids }))
    return {
      ...answerThatWakes(ctx, await insertCommandsFor(tx, ctx, 'MESSAGE', { message }, endpoints)),
      target: endpointRef(endpoints[0]),
      after: { message },
      affected: endpoints.slice(1).map(endpointRef),
    }
  })

export const roomsSendMessage = (ctx: RequestContext, { message, roomIds }: InputOf<'roomsSendMessage'>['body']) =>
  change(ctx, 'roomsSendMessage', async (tx) => {
    const ids = [...new Set(roomIds)]
    const rooms = mustFindAll('roomIds', 'room', ids, await listRoomsById(tx, { ids }))
    const endpoints = await listEndpointsInRooms(tx, { rooms: ids })
    return {
      ...answerThatWakes(ctx, await insertCommandsFor(tx, ctx, 'MESSAGE', { message }, endpoints)),
      target: auditRef('room', rooms[0]),
      after: { message },
      affected: [...rooms.slice(1).map((r) => auditRef('room', r)), ...endpoints.map(endpointRef)],
    }
  })

export async function endpointsOperationsList(ctx: RequestContext, id: string) {
  mustFind(await findEndpoint(ctx.db, { id }), `endpoint ${id}`)
  const rows = await listCommandsOf(ctx.db, { endpoint: id, limit: maxListedCommands })
  return { operations: rows.map(commandView) }
}

export const operationsList = async (ctx: RequestContext) => ({
  operations: (await listOpenCommands(ctx.db, { limit: maxOpenCommands })).map(commandView),
})

export const operationsGet = async (ctx: RequestContext, id: string) =>
  commandView(mustFind(await findCommand(ctx.db, { id }), `operation ${id}`))

/** A command that was sent cannot be cancelled. [contract 6.operations] */
export const operationsCancel = (ctx: RequestContext, id: string) =>
  change(ctx, 'operationsCancel', async (tx) => {
    const cancelled = await cancelQueuedCommand(tx, { id, at: ctx.clock.now() })
    if (!cancelled) {
      const { state } = mustFind(await findCommand(tx, { id }), `operation ${id}`)
      throw new Failure(
        'FAILED_PRECONDITION',
        `operation ${id} is ${state}: ${reasonsNotCancellable[state as keyof typeof reasonsNotCancellable]}. Only a QUEUED one can be cancelled.`,
      )
    }
    if (cancelled.reboot_time !== null) await cancelAttempts(tx, id)
    tx.drafts.push(commandEventDraft(commandView(cancelled)))
    await queueFinishedCommands(tx, [commandView(cancelled)])
    const { type, endpoint_id, group_id } = cancelled
    // The others of a group would restart without the endpoint that was asked for.
    const others = group_id === null ? [] : await cancelGroups(tx, [group_id], ctx.clock.now())
    const [endpoint] = await listEndpointsById(tx, { ids: [endpoint_id] })
    // The cancellation is rolled back if the caller does not see the endpoint.
    if (!tx.access.isEverything) mustFind(endpoint, `operation ${id}`)
    return {
      result: {},
      target: endpoint ? endpointRef(endpoint) : auditRef('endpoint', { id: endpoint_id, name: '' }),
      before: { operationId: id, type, state: 'QUEUED' },
      after: { operationId: id, type, state: 'CANCELLED' },
      ...(others.length > 0 && { affected: others.map(endpointRef) }),
    }
  })

/** The cancellation is rolled back if an attempt is on its way, because the device can restart. */
async function cancelAttempts(tx: Tx, id: string): Promise<void> {
  await deleteAttemptsOf(tx, { id })
  if (!(await hasOpenAttempt(tx, { id }))) return
  throw new Failure(
    'FAILED_PRECONDITION',
    `operation ${id} was just sent to the device and cannot be cancelled now. If the device is in use, it waits again: try again in ${commandDeadlineMs / minuteMs} minutes.`,
  )
}

const reasonsNotCancellable: Record<Exclude<CommandState, 'QUEUED'>, string> = {
  SENT: 'it is on its way to the device',
  ACKNOWLEDGED: 'the device has it already',
  SUCCEEDED: 'the device has done it',
  FAILED: 'the device has tried it',
  EXPIRED: 'its deadline has passed, and nothing more will happen',
  CANCELLED: 'it was cancelled before',
  SKIPPED: 'the device was never asked',
}

/** Inserts a command for each endpoint. The caller wakes the devices after the commit. */
export async function insertCommandsFor<E extends DescribedDevice & Pick<EndpointSummary, 'id' | 'connected'>>(
  tx: Tx,
  ctx: RequestContext,
  type: CommandType,
  payload: object,
  endpoints: readonly E[],
  stateOf?: (endpoint: E) => NewCommandState,
) {
  const at = ctx.clock.now()
  const deadline = at + commandDeadlineMs
  const rows = newCommandRows(type, endpoints, stateOf)
  const batch = { type, payload: JSON.stringify(payload), at, deadline }
  await insertCommands(tx, batch, rows)
  const commands = newCommandViews(batch, rows)
  tx.drafts.push(...commands.map((command) => commandEventDraft(command)))
  return commands
}

/** Connected devices get their command when it is committed. */
const answerThatWakes = (ctx: RequestContext, commands: readonly ReturnType<typeof commandView>[]) => ({
  result: { operations: [...commands] },
  afterCommit: () =>
    ctx.devices.wake(commands.filter(({ state }) => state === 'QUEUED').map(({ endpointId }) => endpointId)),
})

// Sends the commands of REBOOT, MESSAGE, COLLECT_LOGS and POWER jobs to all endpoints of a unit in one commit. [contract 12.job]

import type { Tx } from '../../../db/handles.ts'
import { requestLogs } from '../../../fleet/bug-reports/rules.ts'
import { listOpenDeferred } from '../../../fleet/commands/deferred/deferred-store.ts'
import { insertDeferredReboots } from '../../../fleet/commands/deferred/insert-deferred.ts'
import { queued, skippedOffline } from '../../../fleet/commands/new-commands.ts'
import { powerPayload } from '../../../fleet/commands/power.ts'
import { insertCommandsFor } from '../../../fleet/commands/rules.ts'
import { endpointRef } from '../../../fleet/endpoints/fields.ts'
import { requireVisibleGroups } from '../../../fleet/endpoints/pair-groups.ts'
import { type EndpointSummary, listEndpointsById, type PairedEndpoint } from '../../../fleet/endpoints/store.ts'
import { auditRef } from '../../../journal/audit/change-result.ts'
import { actionOfJob, settingsOfJob } from '../../rows.ts'
import { notDoneAfterMs } from '../advance.ts'
import { DevicesOffline, type EffectInput, type SendOptions, sendEffect } from './effect.ts'

const idsOf = ({ endpoints }: EffectInput): string[] => endpoints.map(({ endpoint_id }) => endpoint_id)

/** The audit entry of a unit whose endpoints are gone. */
const noEndpoint = auditRef('endpoint', { id: '', name: '' })

interface CommandOfEndpoint {
  readonly id: string
  readonly endpointId: string
}
const sentTo = (ids: readonly string[], commands: readonly CommandOfEndpoint[]) =>
  ids.flatMap((id) => {
    const operation = commands.find(({ endpointId }) => endpointId === id)?.id
    return operation === undefined ? [] : [{ id, operation }]
  })

/** Everything that is paired with the endpoints restarts with them, as with endpointsReboot. */
export async function sendReboot(input: EffectInput): Promise<void> {
  const { ctx } = input
  const ids = idsOf(input)
  const commands = await sendEffect(input, 'endpointsReboot', async (tx) => {
    const endpoints = await requireVisibleGroups(tx, ids)
    // A reboot of a part of the unit would fail for the rest.
    if (endpoints.some(({ id, connected }) => ids.includes(id) && !connected)) throw new DevicesOffline()
    const groups = pairGroups(endpoints, ids)
    const commands = await insertReboots(tx, input, groups)
    const [first, ...others] = groups.flat()
    return {
      changed: {
        result: commands,
        target: first ? endpointRef(first) : noEndpoint,
        affected: others.map(endpointRef),
      },
      sent: sentTo(ids, commands),
    }
  })
  ctx.devices.wake(commands.map(({ endpointId }) => endpointId))
}

type GroupMember = Pick<PairedEndpoint, 'id' | 'serial' | 'connected' | 'leader' | 'apart' | 'model' | 'actions'>

/** Splits endpoints into their pair groups. A targeted one that is connected comes first, because a group waits for the connection of its first. */
export function pairGroups<E extends GroupMember>(endpoints: readonly E[], targeted: readonly string[]): E[][] {
  const rank = ({ id, connected }: E) => (targeted.includes(id) ? 0 : 2) + (connected ? 0 : 1)
  const groups = Map.groupBy(endpoints, ({ leader, apart }) => `${leader}/${apart}`)
  return [...groups.values()].map((group) => group.toSorted((a, b) => rank(a) - rank(b)))
}

/** A job that respects rooms in use lets each device check that too, right before it restarts. */
async function insertReboots(tx: Tx, { ctx, job }: EffectInput, groups: readonly (readonly GroupMember[])[]) {
  const { respect } = settingsOfJob(job)
  if (!respect.idle) {
    return insertCommandsFor(tx, ctx, 'REBOOT', {}, groups.flat(), (e) => (e.connected ? queued : skippedOffline))
  }
  const at = ctx.clock.now()
  const time = respect.window ? 'window' : 'idle'
  const commands = await listSharedReboots(tx, groups.flat(), time)
  const isShared = ({ id }: GroupMember) => commands.some(({ endpointId }) => endpointId === id)
  for (const group of groups) {
    const others = group.filter((endpoint) => !isShared(endpoint))
    if (others.length === 0) continue
    commands.push(...(await insertDeferredReboots(tx, others, { time, at, deadline: at + notDoneAfterMs })))
  }
  return commands
}

/**
 * Lists reboots that wait already and that will not happen later than a new one: they serve the job, because the device would otherwise
 * restart twice. A reboot that waits for a window does not serve a job that needs only an empty room.
 */
async function listSharedReboots(
  tx: Tx,
  endpoints: readonly GroupMember[],
  time: 'idle' | 'window',
): Promise<CommandOfEndpoint[]> {
  const open = await listOpenDeferred(tx, { endpoints: endpoints.map(({ id }) => id) })
  return open
    .filter(({ reboot_time }) => reboot_time === 'idle' || reboot_time === time)
    .map(({ id, endpoint_id }) => ({ id, endpointId: endpoint_id }))
}

/** Devices that are offline are skipped, because a message and logs are wanted now, unless all have gone since the facts were read. */
async function requireConnected(input: EffectInput, tx: Tx): Promise<EndpointSummary[]> {
  const connected = (await listEndpointsById(tx, { ids: idsOf(input) })).filter((endpoint) => endpoint.connected)
  if (connected.length === 0) throw new DevicesOffline()
  return connected
}

const idsWithout = (ids: readonly string[], endpoints: readonly EndpointSummary[]): string[] =>
  ids.filter((id) => !endpoints.some((endpoint) => endpoint.id === id))

export async function sendMessage(input: EffectInput): Promise<void> {
  const { ctx, job } = input
  const { message = '' } = actionOfJob(job)
  const ids = idsOf(input)
  await sendEffect(input, 'endpointsSendMessage', async (tx) => {
    const endpoints = await requireConnected(input, tx)
    const commands = await insertCommandsFor(tx, ctx, 'MESSAGE', { message }, endpoints)
    const [first, ...others] = endpoints
    return {
      changed: {
        result: commands,
        target: first ? endpointRef(first) : noEndpoint,
        after: { message },
        affected: others.map(endpointRef),
      },
      sent: sentTo(ids, commands),
      skipped: idsWithout(ids, endpoints),
    }
  })
  ctx.devices.wake(ids)
}

export async function sendLogRequest(input: EffectInput, { logRetentionDays }: SendOptions): Promise<void> {
  const { ctx, job } = input
  const ids = idsOf(input)
  const inCallLogs = actionOfJob(job).uploadInCallLogs === true
  await sendEffect(input, 'endpointsGenerateBugReport', async (tx) => {
    const endpoints = await requireConnected(input, tx)
    const endpointIds = endpoints.map(({ id }) => id)
    const changed = await requestLogs(tx, ctx, { endpointIds, inCallLogs, retentionDays: logRetentionDays })
    const commands = changed.result.commands.map(({ id, endpoint_id }) => ({ id, endpointId: endpoint_id }))
    return { changed, sent: sentTo(ids, commands), skipped: idsWithout(ids, endpoints) }
  })
  ctx.devices.wake(ids)
}

export async function sendPower(input: EffectInput): Promise<void> {
  const { ctx, job } = input
  const on = actionOfJob(job).on === true
  const ids = idsOf(input)
  await sendEffect(input, 'endpointsPower', async (tx) => {
    const endpoints = await listEndpointsById(tx, { ids })
    if (endpoints.some(({ connected }) => !connected)) throw new DevicesOffline()
    const commands = await insertCommandsFor(tx, ctx, 'POWER', powerPayload(on), endpoints)
    const [first, ...others] = endpoints
    return {
      changed: {
        result: commands,
        target: first ? endpointRef(first) : noEndpoint,
        after: { on },
        affected: others.map(endpointRef),
      },
      sent: sentTo(ids, commands),
    }
  })
  ctx.devices.wake(ids)
}

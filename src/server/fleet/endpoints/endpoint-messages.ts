// Writes messages about endpoints, their commands and their configs. Where they are is looked up only if a channel wants them.
import type { Static } from 'typebox'
import type { ChannelEvent } from '../../../contract/channels/messages.ts'
import type { DeviceCommand } from '../../../contract/fleet/commands.ts'
import type { ConnectionEnd } from '../../../contract/fleet/connections.ts'
import { endpointLabel } from '../../../contract/fleet/endpoint-label.ts'
import type { TelemetryTx, Tx } from '../../db/handles.ts'
import { type EndpointOfMessage, listEndpointsOfMessages } from '../../journal/outbox/message-store.ts'
import { areMessagesWanted, endpointDraft, type MessageDraft, queueMessages } from '../../journal/outbox/outbox.ts'

type Command = Static<typeof DeviceCommand>
type NamedEndpoint = Omit<EndpointOfMessage, 'roomId'>

interface PresenceChange {
  readonly type: 'endpoint.connected' | 'endpoint.disconnected'
  readonly at: number
  readonly why?: ConnectionEnd
}

export const queuePresenceMessages = (
  tx: TelemetryTx,
  endpointIds: readonly string[],
  { type, at, why }: PresenceChange,
): Promise<void> =>
  queueAbout(
    tx,
    type,
    endpointIds.map((endpointId) => ({ endpointId, draft: (endpoint) => endpointDraft(type, endpoint, at, why) })),
  )

/** Creates the messages about commands that have reached a final state and whose endpoints exist. */
export const queueFinishedCommands = (tx: Tx | TelemetryTx, commands: readonly Command[]): Promise<void> =>
  queueAbout(
    tx,
    'operation.finished',
    commands.map((command) => ({
      endpointId: command.endpointId,
      draft: (endpoint) => finishedCommandDraft(command, endpoint),
    })),
  )

export const finishedCommandDraft = (operation: Command, endpoint: NamedEndpoint): MessageDraft => ({
  type: 'operation.finished',
  orderKey: `endpoint ${operation.endpointId}`,
  at: Date.parse(operation.updatedAt),
  regionIds: [endpoint.regionId],
  locationIds: [endpoint.locationId],
  data: { operation: { ...operation, endpointName: endpointLabel(endpoint) } },
})

interface ConfigOutcome {
  readonly version: number
  readonly state: 'DELIVERED' | 'FAILED'
  readonly error: string | null
}

export function queueConfigOutcome(
  tx: TelemetryTx,
  endpointId: string,
  { version, state, error }: ConfigOutcome,
  at: number,
): Promise<void> {
  const type = state === 'DELIVERED' ? 'config.delivered' : 'config.failed'
  const config = { endpointId, version, state, ...(error !== null && { error }) }
  const draft = (endpoint: EndpointOfMessage): MessageDraft => ({
    ...{ type, orderKey: `endpoint ${endpointId}`, at },
    regionIds: [endpoint.regionId],
    locationIds: [endpoint.locationId],
    data: { config: { ...config, endpointName: endpointLabel(endpoint) } },
  })
  return queueAbout(tx, type, [{ endpointId, draft }])
}

interface EndpointDraft {
  readonly endpointId: string
  readonly draft: (endpoint: EndpointOfMessage) => MessageDraft
}

async function queueAbout(tx: Tx | TelemetryTx, type: ChannelEvent, drafts: readonly EndpointDraft[]): Promise<void> {
  if (drafts.length === 0 || !(await areMessagesWanted(tx, [type]))) return
  const rows = await listEndpointsOfMessages(tx, { ids: [...new Set(drafts.map(({ endpointId }) => endpointId))] })
  const endpoints = new Map(rows.map((row) => [row.id, row]))
  const made = drafts.flatMap(({ endpointId, draft }) => {
    const endpoint = endpoints.get(endpointId)
    return endpoint ? [draft(endpoint)] : []
  })
  await queueMessages(tx, made)
}

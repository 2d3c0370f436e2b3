// Writes messages for channels in the commit of their cause, so that none is lost and none is sent for a change that was rolled back. [contract 10.delivery]

import type { ChannelEvent, MessageType } from '../../../contract/channels/messages.ts'
import { minuteMs } from '../../../contract/durations.ts'
import { endpointLabel } from '../../../contract/fleet/endpoint-label.ts'
import { randomText } from '../../auth/token.ts'
import type { OrgReader, TelemetryTx, Tx } from '../../db/handles.ts'
import { findWantedMessages } from '../audit/store.ts'

import { type ChannelFilter, type FilteredMessage, wantsMessage } from './filter.ts'
import { messageJson } from './message-size.ts'
import { type EndpointOfMessage, insertMessage, makeUnattemptedDue, markGrown } from './message-store.ts'

/** The first message of an incident waits this long, so that what ends before is never sent. */
export const openingDelayMs = minuteMs

export interface MessageDraft extends FilteredMessage {
  /** Messages with the same key are delivered in order: `incident 12`, `endpoint <id>`. */
  readonly orderKey: string
  readonly incidentId?: number
  /** The time of the cause of the message, in milliseconds. */
  readonly at: number
  /** One of incident, endpoint, operation, config, job, entry or report; all but the report as the API shows them. */
  readonly data: Readonly<Record<string, unknown>>
}

/** Writes the messages and a delivery for each channel that wants them. Costs nothing if no channel wants any. */
export async function queueMessages(tx: Tx | TelemetryTx, drafts: readonly MessageDraft[]): Promise<void> {
  if (drafts.length === 0) return
  const filters = await filtersOf(tx)
  for (const draft of drafts) {
    const channels = filters.filter((filter) => wantsMessage(filter, draft)).map(({ channelId }) => channelId)
    if (channels.length > 0) await insertDraft(tx, draft, channels)
  }
}

/** Whether a channel wants messages of one of these types: if not, their content need not be looked up. */
export const areMessagesWanted = async (tx: Tx | TelemetryTx, types: readonly ChannelEvent[]): Promise<boolean> =>
  (await filtersOf(tx)).some(({ events }) => types.some((type) => events.includes(type)))

/** The channels that chose a type of message, disabled ones too. */
export async function channelsThatChose(on: OrgReader, type: ChannelEvent): Promise<readonly ChannelFilter[]> {
  const filters: ChannelFilter[] = JSON.parse((await findWantedMessages(on))?.wanted_messages ?? '[]')
  return filters.filter(({ events }) => events.includes(type))
}

/** Writes a message for one channel, regardless of its filter, such as a test. Returns the id of the message. */
export const queueForChannel = (tx: Tx | TelemetryTx, channelId: number, draft: WrittenDraft): Promise<string> =>
  insertDraft(tx, draft, [channelId])

/** An incident that grows to this many times the size that a channel was told is sent to it once more. */
const growthFactor = 10

interface GrownIncident {
  readonly incidentId: number
  /** How many subjects are affected now. */
  readonly size: number
}

/**
 * Tells channels that an incident has become much larger than they know, even those that want no changes. Channels that want changes get
 * one for subjects that join.
 */
export async function queueGrowth(
  tx: TelemetryTx,
  { incidentId, size }: GrownIncident,
  draft: () => Promise<MessageDraft>,
): Promise<void> {
  const filters = await filtersOf(tx)
  if (!filters.some(({ events }) => events.includes('incident.opened'))) return
  const grown = await markGrown(tx, { incident: incidentId, maxSize: Math.floor(size / growthFactor) })
  const told = new Set(grown.map(({ channel_id }) => channel_id))
  const asked = filters.filter(({ channelId, events }) => told.has(channelId) && !events.includes('incident.changed'))
  if (asked.length === 0) return
  const message = await draft()
  const channels = asked.filter((filter) => wantsMessage({ ...filter, events: ['incident.changed'] }, message))
  if (channels.length > 0)
    await insertDraft(
      tx,
      message,
      channels.map(({ channelId }) => channelId),
    )
}

/** Reconsiders the unattempted messages of an incident, for example when it becomes critical. */
export const reconsiderIncident = (tx: TelemetryTx, incidentId: number, now: number) =>
  makeUnattemptedDue(tx, { orderKey: incidentOrderKey(incidentId), now })

export const incidentOrderKey = (incident: number | string): string => `incident ${incident}`

/** Messages to the assignee of an incident have a key for each person. */
export const assignmentOrderKey = (incident: number, user: number): string => `incident ${incident} user ${user}`

/** A message about an endpoint says where the endpoint is, and nothing that may be long. */
export const endpointDraft = (
  type: Extract<ChannelEvent, `endpoint.${string}`>,
  endpoint: EndpointOfMessage,
  at: number,
  why?: string,
): MessageDraft => {
  const { id, serial, model, roomId, locationId, regionId } = endpoint
  return {
    type,
    orderKey: `endpoint ${id}`,
    at,
    regionIds: [regionId],
    locationIds: [locationId],
    data: {
      endpoint: {
        id,
        name: endpointLabel(endpoint),
        serial,
        model,
        ...(roomId !== null && { roomId }),
        ...(locationId !== null && { locationId }),
        ...(regionId !== null && { regionId }),
        at: new Date(at).toISOString(),
        ...(why !== undefined && { why }),
      },
    },
  }
}

type WrittenDraft = Pick<MessageDraft, 'orderKey' | 'incidentId' | 'at' | 'data'> & { readonly type: MessageType }

async function insertDraft(tx: Tx | TelemetryTx, draft: WrittenDraft, channels: readonly number[]): Promise<string> {
  const { type, orderKey, incidentId = null, at } = draft
  const id = `msg_${randomText(22)}`
  const nextAt = type === 'incident.opened' ? at + openingDelayMs : at
  await insertMessage(tx, { id, type, orderKey, incidentId, data: messageJson(draft.data), at, nextAt, channels })
  return id
}

/** An audited change knows the filters from the head that it has locked. Other writes use what was read within the last second. */
async function filtersOf(tx: Tx | TelemetryTx): Promise<readonly ChannelFilter[]> {
  const text = tx.isAudited ? tx.wantedMessages : await readFilters(tx)
  return text === '[]' ? [] : JSON.parse(text)
}

async function readFilters(tx: TelemetryTx): Promise<string> {
  const known = tx.wantedMessages.text
  if (known !== undefined) return known
  const text = (await findWantedMessages(tx))?.wanted_messages ?? '[]'
  tx.wantedMessages.remember(text)
  return text
}

// Channels as answers and audit entries show them, without their secrets. [contract 10.channel]
import { hash } from 'node:crypto'
import type { Static } from 'typebox'
import type { Channel } from '../../contract/channels/channels.ts'
import { VersionedAnswer } from '../context/answers.ts'
import { isoTime } from '../core/clock.ts'
import { maskedRoutingKey, maskUrl } from './kinds.ts'
import type { ChannelSecrets, ChannelSettings } from './settings.ts'
import { channelSettingsOf } from './settings.ts'
import type { ChannelRow } from './store.ts'

export function channelView(row: ChannelRow, { url, routingKey }: ChannelSecrets): Static<typeof Channel> {
  const { to, events, rules, regionIds, locationIds, ...settings } = channelSettingsOf(row)
  return {
    id: String(row.id),
    name: row.name,
    kind: row.kind,
    ...(url !== undefined && { url: maskUrl(url) }),
    ...(to && { to: [...to] }),
    ...(routingKey !== undefined && { routingKey: maskedRoutingKey }),
    events: [...events],
    rules: [...(rules ?? [])],
    regionIds: [...regionIds],
    locationIds: [...locationIds],
    ...settings,
    enabled: row.enabled === 1,
    ...(row.disabled_reason !== null && { disabledReason: row.disabled_reason }),
    ...reportOf(row),
  }
}

/** Deliveries change this part without a new version of the channel. */
const reportOf = (row: ChannelRow) => ({
  waiting: row.waiting,
  ...(row.delivered_at !== null && { lastDeliveredAt: isoTime(row.delivered_at) }),
  ...(row.last_error !== null && { lastError: row.last_error }),
})

export const channelAnswer = <T>(row: ChannelRow, body: T): VersionedAnswer<T> =>
  new VersionedAnswer(
    row.version,
    body,
    hash('sha1', JSON.stringify([reportOf(row), row.disabled_reason]), 'base64url'),
  )

/** The regions are named `limitedTo`, so that the audit log does not take them for the places of the change. */
export const auditedChannel = (
  { name, kind, enabled }: Pick<ChannelRow, 'name' | 'kind' | 'enabled'>,
  { regionIds, locationIds, ...settings }: ChannelSettings,
  { url }: ChannelSecrets,
) => ({
  name,
  kind,
  enabled: enabled === 1,
  ...(url !== undefined && { url: maskUrl(url) }),
  ...settings,
  limitedTo: { regionIds, locationIds },
})

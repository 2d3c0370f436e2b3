// Carries out the operations on channels, one function for each. [contract 10.channel]

import { maxChannels } from '../../contract/channels/channels.ts'
import { hourMs, minuteMs } from '../../contract/durations.ts'
import { defaultOverlapHours } from '../../contract/incidents/limits.ts'
import type { InputOf } from '../context/handlers.ts'
import { checkIfMatch } from '../context/if-match.ts'
import type { RequestContext } from '../context/request-context.ts'
import { Failure, invalid, mustFind } from '../core/failure.ts'
import { parseInt32 } from '../core/int32.ts'
import type { OrgReader } from '../db/handles.ts'
import { nextId } from '../db/queries/next-id.ts'
import { change } from '../journal/audit/change.ts'
import { auditRef } from '../journal/audit/change-result.ts'
import type { OutboundClient } from '../outbound/outbound-fetch.ts'
import {
  type ChannelTarget,
  maskedRoutingKey,
  maskUrl,
  messageViolations,
  targetViolations,
  withDefaultUrl,
} from './kinds.ts'
import { checkPlaces } from './places.ts'
import { releaseInCommit } from './release-waiting.ts'
import {
  type ChannelSecrets,
  type ChannelSettings,
  channelSecretsOf,
  channelSettingsOf,
  defaultChannelSettings,
  defaultPeopleSettings,
  makeSigningSecret,
  sealChannelSecrets,
} from './settings.ts'
import {
  type ChannelRow,
  deleteChannel,
  findChannel,
  insertChannel,
  listChannels,
  updateChannel,
  updateSecrets,
} from './store.ts'
import { storeChannelFilters } from './stored-filters.ts'
import { auditedChannel, channelAnswer, channelView } from './view.ts'

export const channelsList = async (ctx: RequestContext) => ({
  channels: (await listChannels(ctx.db)).map((row) => channelView(row, channelSecretsOf(ctx.secrets, row))),
})

export async function channelsGet(ctx: RequestContext, id: string) {
  const row = await requireChannel(ctx.db, id)
  return channelAnswer(row, channelView(row, channelSecretsOf(ctx.secrets, row)))
}

type CreateBody = InputOf<'channelsCreate'>['body']
type UpdateBody = InputOf<'channelsUpdate'>['body']

export async function channelsCreate(ctx: RequestContext, body: CreateBody, outbound: OutboundClient) {
  const { kind, name } = body
  const target = withDefaultUrl(kind, targetOf(body))
  const wrong = [...targetViolations(kind, target, outbound.findProblem), ...messageViolations(kind, body)]
  if (wrong.length > 0) throw invalid(wrong)
  const answer = await change(ctx, 'channelsCreate', async (tx) => {
    if ((await listChannels(tx)).length >= maxChannels) {
      throw new Failure('FAILED_PRECONDITION', `the limit of ${maxChannels} channels is reached. Delete one first.`)
    }
    const defaults = kind === 'people' ? defaultPeopleSettings : defaultChannelSettings
    const settings = await checkPlaces(tx, mergedSettings(defaults, target, body), defaults)
    const signingSecret = kind === 'webhook' ? makeSigningSecret() : undefined
    const secrets: ChannelSecrets = {
      ...(target.url !== undefined && { url: target.url }),
      ...(target.routingKey !== undefined && { routingKey: target.routingKey }),
      ...(signingSecret !== undefined && { signing: [{ secret: signingSecret }] }),
    }
    const id = await nextId(tx, 'channel')
    const now = ctx.clock.now()
    const inserted = await insertChannel(tx, {
      id,
      name,
      kind,
      enabled: body.enabled === false ? 0 : 1,
      settings: JSON.stringify(settings),
      secrets: sealChannelSecrets(ctx.secrets, { org: tx.org, id }, secrets),
      created_at: now,
      heartbeat_at: firstHeartbeat(settings, now),
    })
    if (!inserted) throw new Error('the database returned no row for a new channel')
    await storeChannelFilters(tx)
    const row = { ...inserted, waiting: 0 }
    return {
      result: channelAnswer(row, {
        ...channelView(row, secrets),
        ...(signingSecret !== undefined && { secret: signingSecret }),
      }),
      target: auditRef('channel', { id, name }),
      after: auditedChannel(row, settings, secrets),
    }
  })
  ctx.db.channelsChanged()
  return answer
}

export async function channelsUpdate(ctx: RequestContext, id: string, body: UpdateBody, outbound: OutboundClient) {
  const answer = await change(ctx, 'channelsUpdate', async (tx) => {
    const row = await requireChannel(tx, id)
    checkIfMatch(ctx, row.version)
    const oldSecrets = channelSecretsOf(ctx.secrets, row)
    const oldSettings = channelSettingsOf(row)
    const target = targetOf(body, oldSecrets, oldSettings)
    const wrong = [...targetViolations(row.kind, target, outbound.findProblem), ...messageViolations(row.kind, body)]
    if (wrong.length > 0) throw invalid(wrong)
    const settings = await checkPlaces(tx, mergedSettings(oldSettings, target, body), oldSettings)
    const { url, routingKey } = target
    const secrets: ChannelSecrets = {
      ...oldSecrets,
      ...(url !== undefined && { url }),
      ...(routingKey !== undefined && { routingKey }),
    }
    const now = ctx.clock.now()
    const isEnabled = body.enabled ?? row.enabled === 1
    const hasSameHeartbeat = settings.heartbeatMinutes === oldSettings.heartbeatMinutes
    const mayHaveMore = await releaseInCommit(tx, row.id, now)
    const values = {
      name: body.name ?? row.name,
      enabled: isEnabled ? 1 : 0,
      disabled_reason: isEnabled || body.enabled === false ? null : row.disabled_reason,
      settings: JSON.stringify(settings),
      secrets: sealChannelSecrets(ctx.secrets, row, secrets),
      heartbeat_at: hasSameHeartbeat ? row.heartbeat_at : firstHeartbeat(settings, now),
      // The first success of a failing channel makes the rest due.
      failing_since: mayHaveMore ? now : null,
    }
    await updateChannel(tx, { id: row.id, ...values })
    await storeChannelFilters(tx)
    const updated: ChannelRow = { ...row, ...values, version: row.version + 1 }
    return {
      result: channelAnswer(updated, channelView(updated, secrets)),
      target: auditRef('channel', updated),
      before: auditedChannel(row, oldSettings, oldSecrets),
      after: {
        ...auditedChannel(updated, settings, secrets),
        ...(secrets.url !== oldSecrets.url && { address: 'changed' }),
        ...(secrets.routingKey !== oldSecrets.routingKey && { routingKey: 'changed' }),
      },
    }
  })
  ctx.db.channelsChanged()
  return answer
}

export async function channelsDelete(ctx: RequestContext, id: string) {
  await change(ctx, 'channelsDelete', async (tx) => {
    const row = await requireChannel(tx, id)
    checkIfMatch(ctx, row.version)
    await deleteChannel(tx, { id: row.id })
    await storeChannelFilters(tx)
    return {
      result: undefined,
      target: auditRef('channel', row),
      before: {
        ...auditedChannel(row, channelSettingsOf(row), channelSecretsOf(ctx.secrets, row)),
        waiting: row.waiting,
      },
    }
  })
  ctx.db.channelsChanged()
  return {}
}

/** Two secrets sign at most: an older one ends. */
export const channelsRotateSecret = (ctx: RequestContext, id: string, overlapHours = defaultOverlapHours) =>
  change(ctx, 'channelsRotateSecret', async (tx) => {
    const row = await requireChannel(tx, id)
    checkIfMatch(ctx, row.version)
    const secrets = channelSecretsOf(ctx.secrets, row)
    const [old] = secrets.signing ?? []
    if (!old) {
      throw new Failure(
        'FAILED_PRECONDITION',
        `channel ${id} is of the kind ${row.kind}. Only webhooks have a signing secret.`,
      )
    }
    const secret = makeSigningSecret()
    const until = ctx.clock.now() + overlapHours * hourMs
    const signing = [{ secret }, ...(overlapHours > 0 ? [{ secret: old.secret, until }] : [])]
    await updateSecrets(tx, { id: row.id, secrets: sealChannelSecrets(ctx.secrets, row, { ...secrets, signing }) })
    return { result: { secret }, target: auditRef('channel', row), after: { overlapHours } }
  })

export async function requireChannel(on: OrgReader, channelId: string): Promise<ChannelRow> {
  const id = parseInt32(channelId)
  return mustFind(id === undefined ? undefined : await findChannel(on, { id }), `channel ${channelId}`)
}

/** The mask that answers show instead of a secret, sent back, means the secret that is there. */
function targetOf(
  { url, to, routingKey }: Pick<UpdateBody, 'url' | 'to' | 'routingKey'>,
  known: ChannelSecrets = {},
  { to: knownTo }: Pick<ChannelSettings, 'to'> = {},
): ChannelTarget {
  const isMask = known.url !== undefined && url === maskUrl(known.url)
  const target = {
    url: isMask ? known.url : (url ?? known.url),
    to: to ?? knownTo,
    routingKey: routingKey === maskedRoutingKey ? known.routingKey : (routingKey ?? known.routingKey),
  }
  return Object.fromEntries(Object.entries(target).filter(([, value]) => value !== undefined))
}

function mergedSettings(before: ChannelSettings, { to }: ChannelTarget, body: UpdateBody): ChannelSettings {
  const hours = body.hours === undefined ? before.hours : (body.hours ?? undefined)
  const { heartbeatMinutes: given } = body
  const heartbeatMinutes = given === undefined ? before.heartbeatMinutes : (given ?? undefined)
  return {
    ...(to && { to }),
    events: body.events ?? before.events,
    minSeverity: body.minSeverity ?? before.minSeverity,
    rules: body.rules ?? before.rules ?? [],
    regionIds: body.regionIds ?? before.regionIds,
    locationIds: body.locationIds ?? before.locationIds,
    ...(hours && { hours }),
    ...(heartbeatMinutes !== undefined && { heartbeatMinutes }),
  }
}

const firstHeartbeat = ({ heartbeatMinutes }: ChannelSettings, now: number): number | null =>
  heartbeatMinutes === undefined ? null : now + heartbeatMinutes * minuteMs

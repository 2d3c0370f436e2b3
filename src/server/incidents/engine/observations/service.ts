// Observes whether the certificate of the service expires, and whether channels deliver. [contract 10.rule]

import { maxMessageHoldMs, maxMessageWaitMs } from '../../../../contract/channels/messages.ts'
import { dayMs } from '../../../../contract/durations.ts'
import type { OrgReader } from '../../../db/handles.ts'
import { conditionOf, type Observation } from '../types.ts'
import { type ChannelDeliveries, listChannelDeliveries } from './channel-store.ts'
import type { FullInput, QuickInput } from './input.ts'

/** Without a certificate of its own, the service has none that can expire. A proxy in front of it has one. */
export function observeCertificate({ now, orgId, certificateExpiresAt, rules }: FullInput | QuickInput): Observation {
  const condition = conditionOf('certificate.expiring', orgId)
  const { days = 0, criticalDays = 0 } = rules['certificate.expiring'].limits
  if (certificateExpiresAt === undefined) return { ...condition, state: 'clear' }
  const leftMs = certificateExpiresAt - now
  if (leftMs >= days * dayMs) return { ...condition, state: 'clear' }
  const severity = leftMs < criticalDays * dayMs ? ({ severity: 'CRITICAL' } as const) : {}
  return { ...condition, state: 'holds', detail: { expiresAt: certificateExpiresAt, ...severity } }
}

/** A channel that a person has switched off is meant to deliver nothing. */
export async function observeChannels(on: OrgReader, { now, rules, findings }: FullInput): Promise<Observation[]> {
  const { holdMs } = rules['channel.failing']
  const rows = await listChannelDeliveries(on, { now })
  const ids = new Set(rows.map(({ id }) => String(id)))
  const deleted = findings.filter(({ rule, subject }) => rule === 'channel.failing' && !ids.has(subject.id))
  const ended = deleted.map(({ rule, subject }): Observation => ({ rule, subject, state: 'clear', since: 0 }))
  const known = rows.map((row): Observation => {
    const condition = conditionOf('channel.failing', row.id)
    const isInUse = row.enabled === 1 || row.disabled_reason !== null
    // A time in the future was written by a clock that was ahead.
    const deliveredAt = row.delivered_at !== null && row.delivered_at <= now ? row.delivered_at : 0
    const waitingSince = row.waiting_since ?? overdueSince(row, now)
    // A message that is always refused can wait while everything else is delivered.
    const delivers = now - deliveredAt < holdMs
    if (waitingSince === undefined || !isInUse || delivers) return { ...condition, state: 'clear' }
    return { ...condition, state: 'holds', ...(waitingSince <= now && { since: Math.max(waitingSince, deliveredAt) }) }
  })
  return [...known, ...ended]
}

/** When the message was written that is held for longer than any rule allows; undefined if none is. */
function overdueSince({ held_until, held_since, settings }: ChannelDeliveries, now: number): number | undefined {
  if (held_until === null || held_since === null) return undefined
  const { hours } = JSON.parse(settings) as { readonly hours?: unknown }
  return held_until > now + (hours ? maxMessageWaitMs : maxMessageHoldMs) ? held_since : undefined
}

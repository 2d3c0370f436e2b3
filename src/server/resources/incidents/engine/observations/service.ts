// Observes whether the certificate of the service expires, and whether channels deliver. [contract 10.rule]
import { dayMs } from '../../../../../contract/durations.ts'
import type { OrgReader } from '../../../../db/handles.ts'
import { conditionOf, type Observation } from '../types.ts'
import { listChannelDeliveries } from './channel-store.ts'
import type { FullInput, QuickInput } from './input.ts'

/** A service without a certificate of its own has none that could expire: a proxy before it has one. */
export function observeCertificate({ now, orgId, certificateExpiresAt, rules }: FullInput | QuickInput): Observation {
  const condition = conditionOf('certificate.expiring', 'organisation', orgId)
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
  const known = rows.map(({ id, enabled, disabled_reason, delivered_at, waiting_since }): Observation => {
    const condition = conditionOf('channel.failing', 'channel', id)
    const isInUse = enabled === 1 || disabled_reason !== null
    // Something that is refused for good may wait while everything else is delivered.
    const delivers = delivered_at !== null && now - delivered_at < holdMs
    if (waiting_since === null || !isInUse || delivers) return { ...condition, state: 'clear' }
    return { ...condition, state: 'holds', since: Math.max(waiting_since, delivered_at ?? 0) }
  })
  return [...known, ...ended]
}

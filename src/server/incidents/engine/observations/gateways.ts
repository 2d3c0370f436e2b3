// Observes the devices that gateways cannot manage, and the sources that they cannot read. [contract 10.rule]
import type { OrgReader } from '../../../db/handles.ts'
import { conditionOf, type Observation, type UnmanagedReason } from '../types.ts'
import { listAbsentSources, listTroubledItems } from './gateway-store.ts'
import type { FullInput } from './input.ts'

/** While a gateway or a source is away, nothing is known about its items. After its return each of them has the whole time again. */
export async function observeGatewayItems(on: OrgReader, { findings }: FullInput): Promise<Observation[]> {
  const rows = await listTroubledItems(on)
  const troubled = new Set(rows.map(({ id }) => id))
  const holding = rows.flatMap((row): Observation[] => {
    if (!row.connected || row.source_away) return []
    const condition = conditionOf('gateway.device', row.gateway_id, row.id)
    const unmanaged = [row.state === 'NEW' || row.state === 'UNREACHABLE' ? 'NEVER_REACHED' : row.state]
    const since = Math.max(row.since, row.online_since ?? 0, row.returned_at ?? 0)
    return [{ ...condition, state: 'holds', since, detail: { unmanaged: unmanaged as UnmanagedReason[] } }]
  })
  const ended = findings.flatMap(({ rule, subject }): Observation[] =>
    rule === 'gateway.device' && !troubled.has(subject.part ?? '') ? [{ rule, subject, state: 'clear', since: 0 }] : [],
  )
  return [...holding, ...ended]
}

/** While a gateway is away, nothing is known about its sources. */
export async function observeSources(on: OrgReader, { findings }: FullInput): Promise<Observation[]> {
  const rows = await listAbsentSources(on)
  const absent = new Set(rows.map(({ id }) => id))
  const holding = rows.flatMap(({ id, gateway_id, name, reason, connected, since, online_since }): Observation[] => {
    if (!connected) return []
    const source = { id, name, ...(reason !== null && { reason }) }
    const condition = conditionOf('source.failing', gateway_id, id)
    return [{ ...condition, state: 'holds', since: Math.max(since ?? 0, online_since ?? 0), detail: { source } }]
  })
  const ended = findings.flatMap(({ rule, subject }): Observation[] =>
    rule === 'source.failing' && !absent.has(subject.part ?? '') ? [{ rule, subject, state: 'clear' }] : [],
  )
  return [...holding, ...ended]
}

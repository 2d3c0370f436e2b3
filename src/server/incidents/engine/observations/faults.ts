// Observes the faults that a connected device reports. [contract 10.rule]
import type { FaultLevel } from '../../../../contract/fleet/reported-status.ts'
import { isAtLeast } from '../../../../contract/incidents/rule-table.ts'
import { conditionOf, type Finding, type Observation } from '../types.ts'

export interface ReportedFault {
  readonly code: string
  readonly level: FaultLevel
  readonly text: string
}

/** A device can report more faults than anybody would read. */
export const maxFaultsPerDevice = 5

interface Candidate {
  readonly code: string
  readonly isCritical: boolean
  readonly since: number
  /** Undefined for a finding whose fault is gone, and not yet for long enough. */
  readonly fault?: ReportedFault
}

/**
 * The worst faults count, and of equally bad ones the oldest. One that has to make room for a worse one ends immediately, so no device ever
 * has more open than the maximum.
 */
export function observeFaults(
  endpointId: string,
  reported: readonly ReportedFault[],
  known: readonly Finding[],
  now: number,
): Observation[] {
  const findings = new Map(
    known.flatMap((finding) => (finding.rule === 'device.fault' ? [[finding.subject.part ?? '', finding]] : [])),
  )
  const faults = new Map(
    reported.filter(({ level }) => isAtLeast(level, 'WARNING')).map((fault) => [fault.code, fault]),
  )
  const candidates = [
    ...[...faults.values()].map((fault): Candidate => {
      const { code, level } = fault
      return { code, isCritical: level === 'CRITICAL', since: findings.get(code)?.since ?? now, fault }
    }),
    ...[...findings].flatMap(([code, { since, detail }]): Candidate[] =>
      faults.has(code) ? [] : [{ code, isCritical: detail.severity === 'CRITICAL', since }],
    ),
  ].sort((a, b) => Number(b.isCritical) - Number(a.isCritical) || a.since - b.since)
  return candidates.flatMap((candidate, rank): Observation[] => {
    const { code, fault } = candidate
    const condition = conditionOf('device.fault', endpointId, code)
    if (rank >= maxFaultsPerDevice) return findings.has(code) ? [{ ...condition, state: 'clear', since: 0 }] : []
    if (!fault) return [{ ...condition, state: 'clear' }]
    const detail = { fault: { code, text: fault.text }, ...(candidate.isCritical && { severity: 'CRITICAL' as const }) }
    return [{ ...condition, state: 'holds', detail }]
  })
}

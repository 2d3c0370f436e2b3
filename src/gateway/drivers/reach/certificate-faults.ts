// The end of a certificate as a fault, early enough to renew it.
import { dayMs } from '../../../contract/durations.ts'
import type { FaultLevel } from '../../../contract/fleet/reported-status.ts'

export interface ReachFault {
  readonly code: string
  readonly level: FaultLevel
  readonly text: string
}

const criticalDays = 3

/** Undefined for a date that cannot be read. */
export const certificateDay = (date: Date): string | undefined =>
  Number.isNaN(date.getTime()) ? undefined : date.toISOString().slice(0, 10)

export function certificateFaults(validUntil: Date, warningDays: number, now: number): ReachFault[] {
  const leftMs = validUntil.getTime() - now
  // The date does not change, unlike the days that are left, so the fault is reported once.
  const fault = (level: FaultLevel, verb: string): ReachFault[] => [
    { code: 'certificate.ends', level, text: `The certificate ${verb} on ${certificateDay(validUntil)}.` },
  ]
  if (leftMs <= 0) return fault('CRITICAL', 'has ended')
  if (leftMs <= criticalDays * dayMs) return fault('CRITICAL', 'ends')
  return leftMs <= warningDays * dayMs ? fault('WARNING', 'ends') : []
}

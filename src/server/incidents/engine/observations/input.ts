// The input of the two kinds of observation: of every second, and of every minute.
import type { RuleId } from '../../../../contract/incidents/rule-table.ts'
import type { AirLimits } from '../../../../contract/journal/orgs.ts'
import type { SensorSettings } from '../../../config/sensor-settings.ts'
import type { PresenceTimes } from '../../../nodes/presence-sql.ts'
import type { Finding, RulesInForce, Subject } from '../types.ts'
import type { KnownPeripherals } from './known-peripherals.ts'

interface CommonInput {
  readonly now: number
  /** The times by which the state of endpoints is decided. */
  readonly times: PresenceTimes
  /** The ids of endpoints that are gateways. */
  readonly gateways: ReadonlySet<string>
  readonly rules: RulesInForce
  readonly findings: readonly Finding[]
  /** Whether a silence covers the subject now. */
  readonly isSilenced: (rule: RuleId, subject: Subject) => boolean
  readonly orgId: string
  /** When the TLS certificate of this process expires, in milliseconds; undefined without one. */
  readonly certificateExpiresAt: number | undefined
}

/** The input of the observation of every second, which reads only changes. */
export interface QuickInput extends CommonInput {
  /** The time of the last observation. */
  readonly from: number
  /** False if nothing is silenced, so that only conditions that have held long enough matter. */
  readonly hasSilences: boolean
  /** Whether a device still has time to reconnect after a restart. */
  readonly isReturning: (endpointId: string) => boolean
}

/** The input of the observation of every minute, which reads everything. */
export interface FullInput extends CommonInput {
  readonly settings: Pick<SensorSettings, 'freshnessSeconds'>
  readonly airLimits: AirLimits
  readonly peripherals: KnownPeripherals
}

/** Commits arrive a little after the time that they carry, and the clocks of nodes differ a little. */
export const slackMs = 5000

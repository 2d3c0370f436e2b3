// The findings, incidents and facts from which groupFindings decides.
import type { CauseLevel } from '../../../../contract/incidents/incidents.ts'
import type { FailedRestart } from '../restarts/settle.ts'
import type { Finding, RulesInForce, Structure } from '../types.ts'
import type { EngineIncident } from './incident-drafts.ts'

export interface GroupingInput {
  readonly now: number
  readonly rules: RulesInForce
  readonly structure: Structure
  /** All current findings. */
  readonly findings: readonly Finding[]
  /** Findings that have ended since the last run. */
  readonly ended: readonly Finding[]
  /** Incidents whose cause lasts, those whose cause ended within the last hour, and flapping ones. */
  readonly incidents: readonly EngineIncident[]
  /** Restarts after which too few devices came back. */
  readonly failedRestarts: readonly FailedRestart[]
  /** Devices that are offline, since when, and not yet for as long as the rule asks for. They show how large a cause is. */
  readonly justOffline: ReadonlyMap<string, number>
  /** Devices that are asleep, or behind a gateway that is away: rooms and locations are judged without them. */
  readonly leftOut: ReadonlySet<string>
  /** Whether a silence covers a finding now. */
  readonly isSilenced: (finding: Pick<Finding, 'rule' | 'subject'>) => boolean
  /** The name of a profile, a job or a channel. */
  readonly nameOf: (level: CauseLevel, id: string) => string | undefined
}

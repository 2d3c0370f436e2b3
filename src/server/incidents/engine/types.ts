// The values that the engine of incidents computes with: observations become findings, and findings become incidents.
import type { PeripheralKind } from '../../../contract/fleet/reported-status.ts'
import type { CauseLevel } from '../../../contract/incidents/incidents.ts'
import type { Reading } from '../../../contract/incidents/readings.ts'
import {
  type IncidentRule,
  incidentRules,
  type RuleId,
  type Severity,
  type SubjectType,
} from '../../../contract/incidents/rule-table.ts'

export interface Subject {
  readonly type: SubjectType
  /** The id of an endpoint, room, channel, organisation or job as text. */
  readonly id: string
  /** The code of a fault, the id of a peripheral, or the id of an item or a source of a gateway: an endpoint can have several findings of such a rule at the same time. */
  readonly part?: string
}

/**
 * The state of a condition that is known now. A subject about which nothing is known has no observation: its finding neither opens nor ends an incident meanwhile.
 * `holds`: it opens. `clear`: the opposite holds. `between`: neither, because a rule opens and ends at different values.
 */
export interface Observation {
  readonly rule: RuleId
  readonly subject: Subject
  readonly state: 'holds' | 'clear' | 'between'
  /** Since when, in milliseconds, if that is known; otherwise it counts from this observation. */
  readonly since?: number
  /** When the condition may begin to hold although nothing changes, such as at the end of the time for a restart. */
  readonly changesAt?: number
  /** The facts that title, hint and grouping need, such as the key of a rejected config. */
  readonly detail?: FindingDetail
}

/** The rule and the subject of an observation. */
export const conditionOf = <R extends RuleId>(rule: R, id: string | number, part?: string) => ({
  rule,
  subject: { type: incidentRules[rule].subject, id: String(id), ...(part !== undefined && { part }) } satisfies Subject,
})

export interface FindingDetail {
  /** The keys of rejected settings. */
  readonly keys?: readonly string[]
  /** The sensors that are outside their limits. */
  readonly sensors?: readonly string[]
  /** The values of these sensors, with their limits. */
  readonly readings?: readonly Omit<Reading, 'unit'>[]
  readonly severity?: Severity
  /** A device that was asleep for too long. */
  readonly overslept?: true
  /** The gateway of a device that cannot be seen, because the gateway is offline. */
  readonly hiddenBy?: string
  /** The fault that a device reports. Devices that word it differently share an incident without `text`. */
  readonly fault?: { readonly code: string; readonly text?: string }
  /** The peripherals that are missing. */
  readonly peripherals?: readonly { readonly name: string; readonly kind: PeripheralKind }[]
  /** Why a gateway does not manage its items, one reason for each. Their names are left out: callers who see the gateway may not see their rooms. */
  readonly unmanaged?: readonly UnmanagedReason[]
  /** The source that a gateway cannot read, and why. */
  readonly source?: { readonly id: string; readonly name: string; readonly reason?: string }
  /** When the last attempt with wrong or shared credentials was. */
  readonly lastAt?: number
  /** Overrides the group that the rule names: a rejected setting that a profile locks. */
  readonly profileId?: number
  /** Overrides the group that the rule names: a rejected setting in a config version that a job made. */
  readonly jobId?: number
  /** A stopped job, and the location and region that all of its rooms are in, if there is one. */
  readonly job?: StoppedJob
  /** Kept by findings.ts until the finding matures: the hold time counts from here instead of from `since`. */
  readonly countsFrom?: number
  /** Kept by findings.ts: a silence covers the finding. */
  readonly silenced?: true
  /** Kept by findings.ts: since then nothing is known about the condition. */
  readonly unknownSince?: number
  readonly [name: string]: unknown
}

export type UnmanagedReason = 'REFUSED' | 'CHANGED' | 'DUPLICATE' | 'NEVER_REACHED'

export interface StoppedJob {
  readonly name: string
  readonly locationId: number | null
  readonly regionId: number | null
}

export interface Finding {
  readonly rule: RuleId
  readonly subject: Subject
  readonly since: number
  readonly maturedAt: number | null
  readonly clearSince: number | null
  readonly incidentId: number | null
  readonly detail: FindingDetail
}

/** A rule with the changes of the organisation. */
export interface RuleInForce extends Omit<IncidentRule, 'opens' | 'ends'> {
  readonly isEnabled: boolean
}
export type RulesInForce = Readonly<Record<RuleId, RuleInForce>>

/** The rooms and locations of the endpoints of an organisation, with the names that titles need. */
export interface Structure {
  readonly orgId: string
  readonly orgName: string
  readonly timezone: string
  readonly endpoints: ReadonlyMap<string, StructureEndpoint>
  /** The ids of the endpoints through which others are seen. */
  readonly gateways: ReadonlySet<string>
  readonly rooms: ReadonlyMap<number, StructureRoom>
  readonly locations: ReadonlyMap<number, StructureLocation>
}
export interface StructureEndpoint {
  readonly id: string
  /** Its label. */
  readonly name: string
  readonly model: string
  readonly roomId: number | null
  /** Whether it was ever connected. A device that never was is not offline, and its room does not wait for it. */
  readonly wasConnected: boolean
  /** The id of its gateway. */
  readonly via: string | null
  /** Devices that work as a pair have the same group. */
  readonly pairGroup: string | undefined
}
export interface StructureRoom {
  readonly id: number
  readonly name: string
  readonly locationId: number | null
}
export interface StructureLocation {
  readonly id: number
  readonly name: string
  readonly regionId: number | null
  readonly timezone: string | null
}

export interface Cause {
  readonly level: CauseLevel
  readonly id: string
  readonly name: string
}

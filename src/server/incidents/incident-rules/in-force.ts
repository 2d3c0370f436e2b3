// The rules of incidents as an organisation has them: the table of the contract with its changes. [contract 10.rule]
import { minuteMs } from '../../../contract/durations.ts'
import {
  type IncidentRule,
  incidentRules,
  type RuleId,
  ruleIds,
  type Severity,
} from '../../../contract/incidents/rule-table.ts'
import type { OrgReader } from '../../db/handles.ts'
import type { RuleInForce, RulesInForce } from '../engine/types.ts'
import { listChangedRules } from './store.ts'

/** The changes of an organisation to a rule, as they are stored. Absent means the default. */
export interface RuleChanges {
  readonly enabled?: boolean
  readonly severity?: Severity
  readonly holdMinutes?: number
  readonly clearMinutes?: number
  readonly limits?: Readonly<Record<string, number>>
}

export function ruleInForce(id: RuleId, changes: RuleChanges = {}): RuleInForce {
  const { opens, ends, ...rule }: IncidentRule = incidentRules[id]
  return {
    ...rule,
    isEnabled: changes.enabled ?? true,
    severity: changes.severity ?? rule.severity,
    holdMs: changes.holdMinutes === undefined ? rule.holdMs : changes.holdMinutes * minuteMs,
    clearMs: changes.clearMinutes === undefined ? rule.clearMs : changes.clearMinutes * minuteMs,
    limits: { ...rule.limits, ...changes.limits },
  }
}

export async function readRulesInForce(on: OrgReader): Promise<RulesInForce> {
  const rows = await listChangedRules(on)
  const changes = new Map(rows.map(({ rule, settings }) => [rule, JSON.parse(settings) as RuleChanges]))
  return Object.fromEntries(ruleIds.map((id) => [id, ruleInForce(id, changes.get(id))])) as RulesInForce
}

export const defaultRules = Object.fromEntries(ruleIds.map((id) => [id, ruleInForce(id)])) as RulesInForce

// Carries out the operations on the rules of incidents, one function for each. [contract 10.rule]

import { minuteMs } from '../../../contract/durations.ts'
import {
  incidentRules,
  isSecurityRule,
  type LimitName,
  limitRanges,
  type RuleId,
  ruleIds,
  withNumbers,
} from '../../../contract/incidents/rule-table.ts'
import { permissionDenied } from '../../auth/failures.ts'
import { VersionedAnswer } from '../../context/answers.ts'
import type { InputOf } from '../../context/handlers.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { invalid, mustFind } from '../../core/failure.ts'
import { change } from '../../journal/audit/change.ts'
import { auditRef } from '../../journal/audit/change-result.ts'
import { type RuleChanges, ruleInForce } from './in-force.ts'
import { findChangedRule, listChangedRules, updateRule } from './store.ts'

export async function incidentRulesList(ctx: RequestContext) {
  const rows = new Map((await listChangedRules(ctx.db)).map((row) => [row.rule, row]))
  return { rules: ruleIds.map((id) => ruleView(id, changesOf(rows.get(id)))) }
}

/** An absent key keeps its value, null restores the default. */
export async function incidentRulesUpdate(
  ctx: RequestContext,
  rule: string,
  body: InputOf<'incidentRulesUpdate'>['body'],
) {
  const id = mustFind(
    ruleIds.find((each) => each === rule),
    `rule ${rule}`,
  )
  if (isSecurityRule(id) && !ctx.may('manage')) {
    throw permissionDenied(ctx, 'manage', undefined, `, which changing the rule ${id} needs`)
  }
  return change(ctx, 'incidentRulesUpdate', async (tx) => {
    const row = await findChangedRule(tx, { rule: id })
    const version = row?.version ?? 1
    checkIfMatch(ctx, version)
    const before = changesOf(row)
    const after = changed(id, before, body)
    refuseContradiction(id, after)
    await updateRule(tx, { rule: id, version: version + 1, settings: JSON.stringify(after) })
    return {
      result: new VersionedAnswer(version + 1, ruleView(id, after)),
      target: auditRef('incidentRule', { id, name: id }),
      before: valuesOf(id, before),
      after: valuesOf(id, after),
    }
  })
}

const changesOf = (row: { readonly settings: string } | undefined): RuleChanges =>
  row === undefined ? {} : JSON.parse(row.settings)

/** Stores only what differs from the default, so that a later version may have better defaults for the rest. */
function changed(id: RuleId, before: RuleChanges, body: InputOf<'incidentRulesUpdate'>['body']): RuleChanges {
  const { limits, ...values } = body
  refuseUnknownLimits(id, limits ?? {})
  const merged = {
    ...before,
    ...values,
    limits: limits === null ? {} : { ...before.limits, ...limits },
  }
  const defaults: Readonly<Record<string, unknown>> = valuesOf(id, {})
  const own = Object.entries(merged).filter(
    ([name, value]) => name !== 'limits' && value !== null && value !== undefined && value !== defaults[name],
  )
  const defaultLimits: Readonly<Record<string, number>> = incidentRules[id].limits
  const ownLimits = Object.entries(merged.limits).filter(([name, value]) => value !== defaultLimits[name])
  return {
    ...Object.fromEntries(own),
    ...(ownLimits.length > 0 && { limits: Object.fromEntries(ownLimits) }),
  }
}

function refuseUnknownLimits(id: RuleId, limits: Readonly<Record<string, number>>): void {
  const known = Object.keys(incidentRules[id].limits)
  const violations = Object.entries(limits).flatMap(([name, value]) => {
    const field = `limits.${name}`
    if (!known.includes(name)) {
      const those = known.length === 0 ? 'this rule has none' : `this rule has ${known.join(', ')}`
      return [{ field, error: `is not known; ${those}` }]
    }
    const { min, max } = limitRanges[name as LimitName]
    const isSensible = Number.isInteger(value) && value >= min && value <= max
    return isSensible ? [] : [{ field, error: `must be a whole number from ${min} to ${max}` }]
  })
  if (violations.length > 0) throw invalid(violations)
}

/** A rule that ends where it opens would open and end all the time. */
function refuseContradiction(id: RuleId, changes: RuleChanges): void {
  const { opensBelowPercent, endsAtPercent, days, criticalDays } = ruleInForce(id, changes).limits
  if (opensBelowPercent !== undefined && endsAtPercent !== undefined && endsAtPercent <= opensBelowPercent) {
    throw invalid([
      {
        field: 'limits.endsAtPercent',
        error: `must be greater than opensBelowPercent, which is ${opensBelowPercent}`,
      },
    ])
  }
  if (days !== undefined && criticalDays !== undefined && criticalDays > days) {
    throw invalid([{ field: 'limits.criticalDays', error: `must not be greater than days, which is ${days}` }])
  }
}

function valuesOf(id: RuleId, changes: RuleChanges) {
  const { isEnabled: enabled, severity, holdMs, clearMs, limits } = ruleInForce(id, changes)
  return { enabled, severity, holdMinutes: holdMs / minuteMs, clearMinutes: clearMs / minuteMs, limits }
}

const ruleView = (id: RuleId, changes: RuleChanges) => ({
  rule: id,
  opens: withNumbers(incidentRules[id].opens, ruleInForce(id, changes)),
  ends: withNumbers(incidentRules[id].ends, ruleInForce(id, changes)),
  ...valuesOf(id, changes),
  changed: Object.keys(changes).length > 0,
})

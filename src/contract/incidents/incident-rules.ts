// The settings of the rules: what an organisation has changed about the table of rules. [contract 10.rule]

import Type from 'typebox'
import { mediumBodyBytes, operation } from '../operation.ts'
import { OneOf, Shape } from '../shape.ts'
import { maxRuleMinutes } from './limits.ts'
import { incidentRules, ruleIds, severities, withNumbers } from './rule-table.ts'

const Rule = OneOf(ruleIds, 'Identifier of the rule.')
const Limits = Type.Record(Type.String(), Type.Number(), { description: 'The limits of the condition, by name.' })
const minutes = (description: string) => Type.Number({ minimum: 0, maximum: maxRuleMinutes, description })

export const RuleSettings = Shape('IncidentRule', {
  rule: Rule,
  opens: Type.String({ description: 'The condition under which an incident opens.' }),
  ends: Type.String({ description: 'The condition under which the incident ends.' }),
  enabled: Type.Boolean({ description: 'Whether the rule opens incidents.' }),
  severity: OneOf(severities, 'The severity of incidents of this rule.'),
  holdMinutes: minutes('Minutes for which the condition must hold before an incident opens.'),
  clearMinutes: minutes('Minutes for which the problem must be over before the incident ends.'),
  limits: Limits,
  changed: Type.Boolean({ description: 'Whether a value of the rule differs from the default.' }),
})

const orNull = <S extends Parameters<typeof Type.Optional>[0]>(shape: S) =>
  Type.Optional(Type.Union([shape, Type.Null()]))
const storage = incidentRules['storage.low']
const example = {
  rule: 'storage.low',
  opens: withNumbers(storage.opens, storage),
  ends: withNumbers(storage.ends, storage),
  enabled: true,
  severity: 'WARNING',
  holdMinutes: 30,
  clearMinutes: 0,
  limits: { opensBelowPercent: 10, endsAtPercent: 15 },
  changed: false,
}

export const incidentRuleOperations = {
  incidentRulesList: operation({
    method: 'GET',
    path: '/incident_rules',
    tag: 'Incidents',
    scope: 'read',
    summary: 'List the rules that open incidents',
    response: Shape('IncidentRuleList', { rules: Type.Array(RuleSettings) }),
    example: { response: { rules: [example] } },
  }),
  incidentRulesUpdate: operation({
    method: 'PUT',
    path: '/incident_rules/{rule}',
    tag: 'Incidents',
    scope: 'write',
    everywhere: true,
    summary: 'Change a rule',
    description:
      'An absent key keeps its value, null restores the default. The rules `credential.*`, `certificate.*` and `channel.*` also need manage.',
    params: { rule: Type.String({ description: 'Identifier of the rule.' }) },
    body: Shape('IncidentRulesUpdateRequest', {
      enabled: orNull(Type.Boolean({ description: 'Whether the rule opens incidents.' })),
      severity: orNull(OneOf(severities, 'The severity of incidents of this rule.')),
      holdMinutes: orNull(minutes('Minutes for which the condition must hold before an incident opens.')),
      clearMinutes: orNull(minutes('Minutes for which the problem must be over before the incident ends.')),
      limits: orNull(Limits),
    }),
    bodyLimitBytes: mediumBodyBytes,
    response: RuleSettings,
    versioned: true,
    ifMatch: true,
    audit: { category: 'ORG', type: 'INCIDENT_RULE_UPDATED' },
    example: {
      params: { rule: 'storage.low' },
      body: { severity: 'INFO' },
      response: { ...example, severity: 'INFO', changed: true },
    },
  }),
}

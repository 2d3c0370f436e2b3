// The settings of the rules: what an organisation has changed about the table of rules. [contract 10.rule]

import Type from 'typebox'
import { mediumBodyBytes, operation } from '../operation.ts'
import { OneOf, Shape } from '../shape.ts'
import { maxRuleMinutes } from './limits.ts'
import { incidentRules, ruleIds, severities, withNumbers } from './rule-table.ts'

const Rule = OneOf(ruleIds, 'The rule.')
const Limits = Type.Record(Type.String(), Type.Number(), { description: 'The numbers of its condition, by name.' })
const minutes = (description: string) => Type.Number({ minimum: 0, maximum: maxRuleMinutes, description })

export const RuleSettings = Shape('IncidentRule', {
  rule: Rule,
  opens: Type.String({ description: 'When an incident opens.' }),
  ends: Type.String({ description: 'When it ends.' }),
  enabled: Type.Boolean({ description: 'Whether the rule opens incidents.' }),
  severity: OneOf(severities, 'The severity of its incidents.'),
  holdMinutes: minutes('How long the condition must hold before an incident opens.'),
  clearMinutes: minutes('How long the opposite must hold before it ends.'),
  limits: Limits,
  changed: Type.Boolean({ description: 'Whether something differs from the defaults.' }),
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
    params: { rule: Type.String({ description: 'The rule.' }) },
    body: Shape('IncidentRulesUpdateRequest', {
      enabled: orNull(Type.Boolean({ description: 'False: the rule opens no incidents.' })),
      severity: orNull(OneOf(severities, 'The severity of its incidents.')),
      holdMinutes: orNull(minutes('How long the condition must hold.')),
      clearMinutes: orNull(minutes('How long the opposite must hold.')),
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

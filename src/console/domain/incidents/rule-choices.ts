// The rules that open incidents, as choices of a form.
import { ruleNames } from '../../../contract/incidents/rule-names.ts'
import { ruleIds } from '../../../contract/incidents/rule-table.ts'

export const ruleChoices = ruleIds.map((value) => ({ value, label: ruleNames[value] }))

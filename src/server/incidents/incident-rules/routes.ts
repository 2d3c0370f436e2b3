// Connects the HTTP operations on the rules of incidents to their rules.
import type { OperationHandlers } from '../../context/handlers.ts'
import { incidentRulesList, incidentRulesUpdate } from './rules.ts'

export const incidentRuleRoutes: OperationHandlers<'incidentRulesList' | 'incidentRulesUpdate'> = {
  incidentRulesList,
  incidentRulesUpdate: (ctx, { params, body }) => incidentRulesUpdate(ctx, params.rule, body),
}

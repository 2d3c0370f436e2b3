// Says why a caller may not carry out a step, as the service would. [contract 11.access] [contract 11.user]
import { isSecurityRule, type RuleId } from '../contract/incidents/rule-table.ts'
import { operations } from '../contract/operations.ts'
import { neededPermissions, type Permission } from '../contract/people/permissions.ts'
import type { OrganisationIndex } from './organisation.ts'
import type { DraftStep } from './plan.ts'

export function forbiddenReason(draft: DraftStep, organisation: OrganisationIndex): string | undefined {
  const { permissions, seesAllRegions } = organisation.snapshot
  const lacking = permissionsFor(draft).filter((permission) => !permissions[permission])
  const scopes = lacking.filter((permission) => permission !== 'everywhere')
  if (scopes.length > 0) return `The key lacks ${scopes.join(' and ')}.`
  if (lacking.length > 0) return 'Only a key that sees all regions can do this.'
  if (seesAllRegions) return undefined
  return isOutsideOfRegions(draft)
    ? 'The key is limited to regions, so it cannot put anything outside of them.'
    : undefined
}

function permissionsFor({ operation, kind, before, after, id }: DraftStep): Permission[] {
  const needed = neededPermissions(operations[operation])
  if (kind === 'incidentRule' && isSecurityRule(id as RuleId)) return [...needed, 'manage']
  if (kind !== 'silence') return needed
  const { place, rules } = { ...before, ...after }
  return [
    ...needed.filter((permission) => permission !== 'operate'),
    'write',
    ...(place === 'all' ? (['everywhere'] as const) : []),
    ...(((rules ?? []) as RuleId[]).some(isSecurityRule) ? (['manage'] as const) : []),
  ]
}

/** Whether a location would be in no region afterwards, or a room in no location. */
function isOutsideOfRegions({ after, operation }: DraftStep): boolean {
  if (operation === 'locationsCreate' || operation === 'locationsUpdate') return !after.region
  return (operation === 'roomsCreate' || operation === 'roomsUpdate') && !after.location
}

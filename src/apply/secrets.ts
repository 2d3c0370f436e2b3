// Lists the variables that a plan needs.
import { isEnvSecret } from '../plan/compare.ts'
import { kindTable } from '../plan/kinds.ts'
import type { OrganisationPlan } from '../plan/plan.ts'
import type { ThingValue, Values } from '../plan/things.ts'

/** The names of the variables with secrets that the steps send, each once. */
export function secretNamesOf({ steps }: Pick<OrganisationPlan, 'steps'>): string[] {
  const names = steps.flatMap(({ kind, after }) =>
    Object.entries(kindTable[kind].fields).flatMap(([field, fieldKind]) => {
      const value = after[field]
      if (fieldKind === 'secret') return [value]
      return fieldKind === 'map' ? Object.values((value ?? {}) as Values) : []
    }),
  )
  return [...new Set(names.filter((value: ThingValue | undefined) => isEnvSecret(value)).map(({ env }) => env))].sort()
}

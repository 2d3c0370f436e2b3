// Lists the variables that a plan needs.
import { isSecret } from '../plan/compare.ts'
import { kindTable } from '../plan/kinds.ts'
import type { Plan } from '../plan/plan.ts'
import type { Value, Values } from '../plan/things.ts'

/** The names of the variables with secrets that the steps send, each once. */
export function secretNamesOf({ steps }: Plan): string[] {
  const names = steps.flatMap(({ kind, after }) =>
    Object.entries(kindTable[kind].fields).flatMap(([field, fieldKind]) => {
      const value = after[field]
      if (fieldKind === 'secret') return [value]
      return fieldKind === 'map' ? Object.values((value ?? {}) as Values) : []
    }),
  )
  return [...new Set(names.filter((value: Value | undefined) => isSecret(value)).map(({ env }) => env))].sort()
}

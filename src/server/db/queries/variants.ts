// Statements that consist of optional parts, such as a list with filters. Each combination is a statement, compiled at its first use.
import { type BuildVariant, declareVariants } from '../statement-observer.ts'

/** Returns the query for the given parts. `parts` names all that there are, so tests can require rows with each of them. */
export function queryVariants<N extends string, Q>(
  parts: readonly N[],
  build: BuildVariant<N, Q>,
): (given: Iterable<N>) => Q {
  const built = new Map<string, Q>()
  const buildVariant = declareVariants(parts, build)
  return (given) => {
    const set = new Set(given)
    const name = parts.filter((part) => set.has(part)).join()
    let query = built.get(name)
    if (query === undefined) {
      query = buildVariant(set)
      built.set(name, query)
    }
    return query
  }
}

// Names the statements that stores declare, and collects which of them returned or changed a row on which engine.
import type { CompiledQuery } from 'kysely'
import type { EngineName } from '../../../src/server/db/engine.ts'
import type { Handle } from '../../../src/server/db/handles.ts'
import type {
  BuildVariant,
  RunStatement,
  StatementCompiled,
  StatementObserver,
} from '../../../src/server/db/statement-observer.ts'

export interface StatementCall {
  readonly run: RunStatement<unknown>
  readonly on: Handle
  readonly values: object | undefined
  readonly org: number | undefined
}

/** The names of statements with rows, and of branches that were taken. */
export type WithRows = Record<EngineName, Set<string>>

/** Variants of a statement that are being declared: `given` are the parts of one of them. */
interface Variant {
  readonly family: string
  readonly given: readonly string[]
  count: number
}

/** A statement is named by the line that declares it: `incidents/store.ts:51`, and ` (2)` for the second statement of that line. */
export class ObservedStatements implements StatementObserver {
  /** All statements that were declared, and the engine if a statement exists on one only. */
  readonly declarations = new Map<string, EngineName | undefined>()
  withRows: WithRows = { sqlite: new Set(), postgres: new Set() }
  /** A test sets it to see each call of a statement. */
  onCall: ((call: StatementCall) => void) | undefined
  readonly #names = new WeakMap<CompiledQuery, { engine: EngineName; names: readonly string[] }>()
  readonly #countAtSite = new Map<string, number>()
  #variant: Variant | undefined

  declared(onlyOn: EngineName | undefined): StatementCompiled {
    const names = this.#variant ? namesOfVariant(this.#variant) : this.#nameAtSite()
    if (!names) return () => {}
    this.declarations.set(names[0] as string, onlyOn)
    return (engine, query) => void this.#names.set(query, { engine, names })
  }

  declaredVariants<N extends string, Q>(parts: readonly N[], build: BuildVariant<N, Q>): BuildVariant<N, Q> {
    const [family] = this.#nameAtSite() ?? []
    if (!family) return build
    const buildNamed = (given: ReadonlySet<N>) => {
      this.#variant = { family, given: [...given], count: 0 }
      try {
        return build(given)
      } finally {
        this.#variant = undefined
      }
    }
    for (const part of parts) this.declarations.set(withPart(family, part), undefined)
    buildNamed(new Set(parts))
    return buildNamed
  }

  observeCalls<R>(run: RunStatement<R>): RunStatement<R> {
    return (on, values, org) => {
      this.onCall?.({ run, on, values, org })
      return run(on, values, org)
    }
  }

  /** The name of the statement; undefined for one that no store declares. */
  nameOf(query: CompiledQuery): string | undefined {
    return this.#names.get(query)?.names[0]
  }

  ran(query: CompiledQuery, rowCount: number): void {
    if (rowCount === 0) return
    const known = this.#names.get(query)
    if (known) for (const name of known.names) this.withRows[known.engine].add(name)
  }

  #nameAtSite(): [string] | undefined {
    const site = declaringSite()
    if (!site) return undefined
    const count = (this.#countAtSite.get(site) ?? 0) + 1
    this.#countAtSite.set(site, count)
    return [numbered(site, count)]
  }
}

/** The statements of this worker, which statement-log.ts observes. */
export const observedStatements = new ObservedStatements()

const numbered = (site: string, count: number) => (count === 1 ? site : `${site} (${count})`)
const withPart = (family: string, part: string) => `${family} with ${part}`

/** Variants share a name, and so do the parts of each, whichever combination of them comes first. */
function namesOfVariant(variant: Variant): string[] {
  const { family, given } = variant
  return [numbered(family, ++variant.count), ...given.map((part) => withPart(family, part))]
}

/** The line of the store that declares a statement, outside of the functions that compile it. For a test that declares one, undefined. */
function declaringSite(): string | undefined {
  const compiling =
    /\/db\/(queries\/(query|query-numbers|insert-many|variants)|system|statement-observer)\.ts|\/test\/support\//
  const ours = (new Error().stack ?? '').split('\n').filter((line) => /\/(src|test)\//.test(line))
  const site = ours.find((line) => !compiling.test(line))
  return site?.match(/\/src\/server\/(\S+?(?<!\.test)\.ts:\d+)/)?.[1]
}

// Queries that are built and compiled once for each engine, then only given their values.
import type { Compilable, CompiledQuery, Kysely } from 'kysely'
import type { EngineName, Reader } from './db.ts'
import { Placeholder } from './placeholder.ts'
import type { DatabaseSchema } from './schema.ts'
import { type WriteTarget, writeTargetOf } from './written-rows.ts'

const placeholders = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) })

type Build<P, R> = (db: Kysely<DatabaseSchema>, p: P, engine: EngineName) => Compilable<R>

interface Plan<R> {
  readonly query: CompiledQuery<R>
  readonly writing: WriteTarget | undefined
}

/** Rows of a query: `query((db, p: { org: number }) => db.selectFrom('regions')…where('org', '=', p.org))`. */
export function query<P extends object, R>(build: Build<P, R>): (on: Reader, values: P) => Promise<R[]> {
  const plans: { [E in EngineName]?: Plan<R> } = {}
  return async (on, values) => {
    let plan = plans[on.engine]
    if (!plan) {
      const compiled = build(on.kysely, placeholders as P, on.engine).compile()
      plan = { query: compiled, writing: writeTargetOf(compiled) }
      plans[on.engine] = plan
    }
    if (plan.writing) on.wrote(plan.writing, values)
    try {
      const rows = on.run(plan.query, valuesFor(plan.query, values))
      // Awaiting what is there already would cost a turn of its own.
      return rows instanceof Promise ? await rows : rows
    } catch (error) {
      throw on.failed(error)
    }
  }
}

function valuesFor({ parameters }: CompiledQuery, values: object): unknown[] {
  const filled: unknown[] = []
  for (const parameter of parameters) {
    filled.push(parameter instanceof Placeholder ? values[parameter.name as keyof object] : parameter)
  }
  return filled
}

/** The first row, or undefined. */
export function queryOne<P extends object, R>(build: Build<P, R>): (on: Reader, values: P) => Promise<R | undefined> {
  const rows = query(build)
  return async (on, values) => (await rows(on, values))[0]
}

// Queries that are built and compiled once for each engine, then only given their values.
import type { Compilable, CompiledQuery, Kysely } from 'kysely'
import type { Engine, Reader } from './db.ts'
import type { Schema } from './schema.ts'

/** Stands for a value that the caller gives. */
class Placeholder {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

const placeholders = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) })

type Build<P, R> = (db: Kysely<Schema>, p: P, engine: Engine) => Compilable<R>

/** Rows of a query: `query((db, p: { org: number }) => db.selectFrom('regions')…where('org', '=', p.org))`. */
export function query<P extends object, R>(build: Build<P, R>): (on: Reader, values: P) => Promise<R[]> {
  const compiled: { [E in Engine]?: CompiledQuery<R> } = {}
  return async (on, values) => {
    compiled[on.engine] ??= build(on.kysely, placeholders as P, on.engine).compile()
    const once = compiled[on.engine] as CompiledQuery<R>
    const parameters = once.parameters.map((p) => (p instanceof Placeholder ? values[p.name as keyof P] : p))
    try {
      return (await on.kysely.executeQuery<R>({ ...once, parameters })).rows
    } catch (error) {
      throw on.failed(error)
    }
  }
}

/** The first row, or undefined. */
export function queryOne<P extends object, R>(build: Build<P, R>): (on: Reader, values: P) => Promise<R | undefined> {
  const rows = query(build)
  return async (on, values) => (await rows(on, values))[0]
}

// Queries that are built and compiled once for each engine, and run with other values each time.
import type { Compilable, CompiledQuery, Kysely, SelectQueryBuilder } from 'kysely'
import type { EngineName } from '../engine.ts'
import type { OrgReader, TelemetryTx, Tx } from '../handles.ts'
import type { DatabaseSchema } from '../schema/schema.ts'
import { declareStatement, observeCalls, type RunStatement } from '../statement-observer.ts'
import { Placeholder, type WriteTarget, writeTargetOf } from '../written-rows.ts'
import { queryBuilders } from './query-builders.ts'
import {
  isVisible,
  type QualifiedColumn,
  type RegionScopedTable,
  regionScopedTableIn,
  type VisibleSubject,
} from './visible.ts'

/** Builds a query in which `p` stands for the values: `(db, p) => db.selectFrom('regions')….where('org', '=', p.org)`. */
export type BuildQuery<P, R, S = DatabaseSchema> = (db: Kysely<S>, p: P, engine: EngineName) => Compilable<R>

/** Tables whose rows all callers of an organisation may see, as far as their operations allow it. */
type UnscopedSchema = Omit<DatabaseSchema, RegionScopedTable>

/** Builds a query of which only the visible rows are read: the condition is added to it. */
type BuildSelect<P, R> = (
  db: Kysely<DatabaseSchema>,
  p: P,
  engine: EngineName,
  // biome-ignore lint/suspicious/noExplicitAny: a condition on a column that the query names can be added whatever its tables are
) => SelectQueryBuilder<any, any, R>

interface ForOrg {
  readonly org: number
}
/** The calling code passes all values but the organisation, which the handle knows. */
type Values<P> = Omit<P, 'org'>
/** The argument is optional if the query has no other values. */
type ValuesArgument<P> = object extends Values<P> ? [values?: Values<P>] : [values: Values<P>]

/** Reads rows of one organisation that belong to no region, such as profiles and keys. */
export function query<P extends ForOrg, R>(build: BuildQuery<P, R, UnscopedSchema>, onlyOn?: EngineName) {
  return wholeQuery(refuseScopedTables(build), onlyOn)
}

/** Reads the first row, or undefined. */
export function queryOne<P extends ForOrg, R>(build: BuildQuery<P, R, UnscopedSchema>, onlyOn?: EngineName) {
  return wholeQueryOne(refuseScopedTables(build), onlyOn)
}

/** Reads whether there is a row. */
export function queryExists<P extends ForOrg, R>(build: BuildQuery<P, R, UnscopedSchema>) {
  return wholeQueryExists(refuseScopedTables(build))
}

/** The types do not notice a region-scoped table that a helper function names, so the statement is looked at too, once for each engine. */
const refuseScopedTables =
  <P, R>(build: BuildQuery<P, R, UnscopedSchema>): BuildQuery<P, R> =>
  (db, p, engine) => {
    const built = build(db as unknown as Kysely<UnscopedSchema>, p, engine)
    const table = regionScopedTableIn(built.compile())
    if (table)
      throw new Error(`This query reads ${table}, whose rows belong to regions. Use visibleQuery() or wholeQuery().`)
    return built
  }

/**
 * Reads rows that the caller sees. `subject` says which thing the rows show, and `column` has its id: `visibleQuery('room', 'r.id', …)`.
 * For callers who see everything the statement is the query as it is written. [contract 11.access]
 */
export function visibleQuery<P extends ForOrg, R>(
  subject: VisibleSubject,
  column: QualifiedColumn,
  build: BuildSelect<P, R>,
) {
  const all = compileOnce(build)
  const visible = compileOnce<P & { visibleRegions: readonly number[] }, R>((db, p, engine) => {
    const built = build(db, p, engine)
    // This comes before the region condition, because that condition itself contains the organisation.
    requireOrganisation(built.compile())
    return built.where(isVisible(engine, subject, column, p))
  })
  return (on: OrgReader, ...[values]: ValuesArgument<P>): Promise<R[]> => {
    const { regionIds } = on.access
    if (regionIds === undefined) return all(on, values, on.org)
    return visible(on, { ...values, visibleRegions: regionIds }, on.org)
  }
}

export function visibleQueryOne<P extends ForOrg, R>(
  subject: VisibleSubject,
  column: QualifiedColumn,
  build: BuildSelect<P, R>,
) {
  const run = visibleQuery(subject, column, build)
  return async (on: OrgReader, ...values: ValuesArgument<P>): Promise<R | undefined> => (await run(on, ...values))[0]
}

export function visibleQueryExists<P extends ForOrg, R>(
  subject: VisibleSubject,
  column: QualifiedColumn,
  build: BuildSelect<P, R>,
) {
  const run = visibleQuery(subject, column, build)
  return async (on: OrgReader, ...values: ValuesArgument<P>): Promise<boolean> => (await run(on, ...values)).length > 0
}

/** Reads rows of one organisation, whichever regions the caller sees: for devices, caches, tasks, and checks that need the truth. */
export function wholeQuery<P extends ForOrg, R>(build: BuildQuery<P, R>, onlyOn?: EngineName) {
  const run = compileOnce(build, onlyOn)
  return (on: OrgReader, ...[values]: ValuesArgument<P>): Promise<R[]> => run(on, values, on.org)
}

export function wholeQueryOne<P extends ForOrg, R>(build: BuildQuery<P, R>, onlyOn?: EngineName) {
  const run = compileOnce(build, onlyOn)
  return async (on: OrgReader, ...[values]: ValuesArgument<P>): Promise<R | undefined> =>
    (await run(on, values, on.org))[0]
}

export function wholeQueryExists<P extends ForOrg, R>(build: BuildQuery<P, R>) {
  const run = compileOnce(build)
  return async (on: OrgReader, ...[values]: ValuesArgument<P>): Promise<boolean> =>
    (await run(on, values, on.org)).length > 0
}

/** Writes in an audited transaction, and returns what the statement returns. */
export function write<P extends ForOrg, R>(build: BuildQuery<P, R>) {
  const run = compileOnce(build)
  return (tx: Tx, ...[values]: ValuesArgument<P>): Promise<R[]> => run(tx, values, tx.org)
}

export function writeOne<P extends ForOrg, R>(build: BuildQuery<P, R>) {
  const run = compileOnce(build)
  return async (tx: Tx, ...[values]: ValuesArgument<P>): Promise<R | undefined> => (await run(tx, values, tx.org))[0]
}

/** Writes, and returns whether a row was written. The statement must return its rows. */
export function writeExists<P extends ForOrg, R>(build: BuildQuery<P, R>) {
  const run = compileOnce(build)
  return async (tx: Tx, ...[values]: ValuesArgument<P>): Promise<boolean> => (await run(tx, values, tx.org)).length > 0
}

/** Writes without an audit entry. */
export function writeTelemetry<P extends ForOrg, R>(build: BuildQuery<P, R>, onlyOn?: EngineName) {
  const run = compileOnce(build, onlyOn)
  return (tx: TelemetryTx, ...[values]: ValuesArgument<P>): Promise<R[]> => run(tx, values, tx.org)
}

export function writeTelemetryOne<P extends ForOrg, R>(build: BuildQuery<P, R>) {
  const run = compileOnce(build)
  return async (tx: TelemetryTx, ...[values]: ValuesArgument<P>): Promise<R | undefined> =>
    (await run(tx, values, tx.org))[0]
}

export function writeTelemetryExists<P extends ForOrg, R>(build: BuildQuery<P, R>) {
  const run = compileOnce(build)
  return async (tx: TelemetryTx, ...[values]: ValuesArgument<P>): Promise<boolean> =>
    (await run(tx, values, tx.org)).length > 0
}

/** For the few statements that both kinds of transaction run. */
export function writeAny<P extends ForOrg, R>(build: BuildQuery<P, R>) {
  const run = compileOnce(build)
  return (tx: Tx | TelemetryTx, ...[values]: ValuesArgument<P>): Promise<R[]> => run(tx, values, tx.org)
}

interface CompiledPlan<R> {
  readonly query: CompiledQuery<R>
  readonly target: WriteTarget | undefined
}

/** Reading any property gives a placeholder with its name. */
const placeholders = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) })
const noValues = {}

/**
 * Compiles the query when it is first run on an engine. Only the functions of query.ts, query-numbers.ts and system.ts call this.
 * `onlyOn` is for a statement that the other engine does not need, or has another form of.
 */
export function compileOnce<P, R>(build: BuildQuery<P, R>, onlyOn?: EngineName) {
  const plans: { [E in EngineName]?: CompiledPlan<R> } = {}
  const compiledFor = declareStatement(onlyOn)
  const run: RunStatement<R> = async (on, values = noValues, org) => {
    let plan = plans[on.engine]
    if (!plan) {
      const compiled = build(queryBuilders[on.engine], placeholders as P, on.engine).compile()
      if (org !== undefined) requireOrganisation(compiled)
      plan = { query: compiled, target: writeTargetOf(compiled) }
      plans[on.engine] = plan
      compiledFor(on.engine, compiled)
    }
    if (plan.target) on.noteWrite(plan.target, values, org)
    try {
      const rows = on.run(plan.query, parametersOf(plan.query, values, org))
      // SQLite returns rows synchronously, and an await would delay the answer by a turn of the microtask queue.
      return rows instanceof Promise ? await rows : rows
    } catch (error) {
      throw on.errorOf(error)
    }
  }
  return observeCalls(run)
}

/** A statement that does not name its organisation would reach the rows of all of them. */
function requireOrganisation({ parameters, sql }: CompiledQuery): void {
  if (parameters.some((parameter) => parameter instanceof Placeholder && parameter.name === 'org')) return
  throw new Error(`This query of an organisation does not use p.org: ${sql}`)
}

function parametersOf({ parameters }: CompiledQuery, values: object, org: number | undefined): unknown[] {
  const filled: unknown[] = []
  for (const parameter of parameters) {
    if (!(parameter instanceof Placeholder)) filled.push(parameter)
    else if (org !== undefined && parameter.name === 'org') filled.push(org)
    else filled.push(parameterOf(values[parameter.name as keyof object]))
  }
  return filled
}

/** A list is passed as JSON, so that the text of a query does not depend on its length (see any-of.ts). */
const parameterOf = (value: unknown): unknown => (Array.isArray(value) ? JSON.stringify(value) : value)

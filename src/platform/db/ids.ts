// A list of ids as one parameter, so that the text of a query does not depend on how many there are.
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Engine } from './db.ts'

/**
 * For `where(isAnyOf(engine, 'id', p.ids))`; the caller passes `JSON.stringify(ids)`. On PostgreSQL as an array: of a
 * subquery it would not know the length, and could compare every row with every id.
 */
export const isAnyOf = (engine: Engine, column: string, ids: string): RawBuilder<SqlBool> =>
  engine === 'postgres'
    ? sql<SqlBool>`${sql.ref(column)} = any(array(select jsonb_array_elements_text(${ids}::jsonb)))`
    : sql<SqlBool>`${sql.ref(column)} in (select value from json_each(${ids}))`

/** The same for ids that are numbers. */
export const isAnyNumberOf = (engine: Engine, column: string, ids: string): RawBuilder<SqlBool> =>
  engine === 'postgres'
    ? sql<SqlBool>`${sql.ref(column)} = any(array(select jsonb_array_elements_text(${ids}::jsonb)::integer))`
    : sql<SqlBool>`${sql.ref(column)} in (select value from json_each(${ids}))`

/** Whether something is among what a short query finds; on PostgreSQL as an array too, for the same reason. */
export const isIn = (engine: Engine, what: RawBuilder<unknown>, found: RawBuilder<unknown>): RawBuilder<SqlBool> =>
  engine === 'postgres' ? sql<SqlBool>`${what} = any(array(${found}))` : sql<SqlBool>`${what} in (${found})`

// A list of ids as one parameter, so that the text of a query does not depend on how many there are.

import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { EngineName } from './engine.ts'

/**
 * For `where(isAnyOf(engine, 'id', p.ids))`. The list travels as JSON (see query.ts). PostgreSQL unpacks it
 * into an array: it cannot estimate the length of a subquery, and might compare every row with every id.
 */
export const isAnyOf = (engine: EngineName, column: string, ids: readonly string[]): RawBuilder<SqlBool> =>
  engine === 'postgres'
    ? sql<SqlBool>`${sql.ref(column)} = any(array(select jsonb_array_elements_text(${ids}::jsonb)))`
    : sql<SqlBool>`${sql.ref(column)} in (select value from json_each(${ids}))`

/** As isAnyOf, for ids that are numbers. */
export const isAnyNumberOf = (engine: EngineName, column: string, ids: readonly number[]): RawBuilder<SqlBool> =>
  engine === 'postgres'
    ? sql<SqlBool>`${sql.ref(column)} = any(array(select jsonb_array_elements_text(${ids}::jsonb)::integer))`
    : sql<SqlBool>`${sql.ref(column)} in (select value from json_each(${ids}))`

/** Whether something is among what a short query finds; on PostgreSQL as an array too, for the same reason. */
export const isIn = (engine: EngineName, what: RawBuilder<unknown>, found: RawBuilder<unknown>): RawBuilder<SqlBool> =>
  engine === 'postgres' ? sql<SqlBool>`${what} = any(array(${found}))` : sql<SqlBool>`${what} in (${found})`

// Passes a list of ids as one parameter, so that the text of a query does not depend on its length.

import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { EngineName } from '../engine.ts'

/**
 * For `where(isAnyOf(engine, 'id', p.ids))`. The list travels as JSON (see query.ts). PostgreSQL unpacks it
 * into an array: it cannot estimate the length of a subquery, and might compare every row with every id.
 */
export const isAnyOf = (engine: EngineName, column: string, ids: readonly string[]): RawBuilder<SqlBool> =>
  engine === 'postgres'
    ? sql<SqlBool>`${sql.ref(column)} = any(array(select jsonb_array_elements_text(${ids}::jsonb)))`
    : sql<SqlBool>`${sql.ref(column)} in (select value from json_each(${ids}))`

/** Does what isAnyOf does, for ids that are numbers. */
export const isAnyNumberOf = (engine: EngineName, column: string, ids: readonly number[]): RawBuilder<SqlBool> =>
  engine === 'postgres'
    ? sql<SqlBool>`${sql.ref(column)} = any(array(select jsonb_array_elements_text(${ids}::jsonb)::integer))`
    : sql<SqlBool>`${sql.ref(column)} in (select value from json_each(${ids}))`

/** Whether a value is in the result of a short query, which PostgreSQL gets as an array too, for the reason above. */
export const isIn = (engine: EngineName, value: RawBuilder<unknown>, rows: RawBuilder<unknown>): RawBuilder<SqlBool> =>
  engine === 'postgres' ? sql<SqlBool>`${value} = any(array(${rows}))` : sql<SqlBool>`${value} in (${rows})`

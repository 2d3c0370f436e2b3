// Passes a list of ids as one parameter, so that the text of a query does not depend on its length.

import { type CompiledQuery, type OperationNode, type RawBuilder, RawNode, type SqlBool, sql } from 'kysely'
import type { EngineName } from '../engine.ts'
import { partsOf } from './query-parts.ts'

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

/** Does what isAnyOf does, for times in milliseconds. */
export const isAnyTimeOf = (engine: EngineName, column: string, times: readonly number[]): RawBuilder<SqlBool> =>
  engine === 'postgres'
    ? sql<SqlBool>`${sql.ref(column)} = any(array(select jsonb_array_elements_text(${times}::jsonb)::bigint))`
    : sql<SqlBool>`${sql.ref(column)} in (select value from json_each(${times}))`

/** Whether a value is in the result of a short query, which PostgreSQL gets as an array too, for the reason above. */
export const isIn = (engine: EngineName, value: RawBuilder<unknown>, rows: RawBuilder<unknown>): RawBuilder<SqlBool> =>
  engine === 'postgres' ? sql<SqlBool>`${value} = any(array(${rows}))` : sql<SqlBool>`${value} in (${rows})`

const listTexts = new Set(
  (['sqlite', 'postgres'] as const).map((engine) => textOf(isAnyOf(engine, 'id', []).toOperationNode())),
)

function textOf(node: OperationNode): string | undefined {
  return RawNode.is(node) ? node.sqlFragments.join('?') : undefined
}

/** Returns the column and the list of a condition that isAnyOf has made, and undefined for other conditions. */
export function listConditionOf(node: OperationNode): { column: OperationNode; values: OperationNode } | undefined {
  if (!RawNode.is(node) || !listTexts.has(textOf(node))) return undefined
  const [wrapped, values] = node.parameters
  // sql.ref wraps the reference.
  const column = wrapped && RawNode.is(wrapped) ? wrapped.parameters[0] : wrapped
  return column && values && { column, values }
}

/** Whether a query of PostgreSQL unpacks a list from JSON, by a condition of this file or in a piece of SQL text of its own. */
export const hasList = (query: CompiledQuery): boolean =>
  partsOf(query).rawTexts.some((text) => text.includes('jsonb_array_elements'))

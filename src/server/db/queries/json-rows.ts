// Passes many rows as one JSON parameter, so that the text of a statement does not depend on their number.
import { type RawBuilder, sql } from 'kysely'
import type { EngineName } from '../engine.ts'

type ColumnTypes<R> = Readonly<Record<keyof R & string, 'text' | 'integer' | 'bigint'>>

/** A table for `selectFrom(… .as('r'))`. Each row is a list of values, and `types` names their columns in the same order. */
export function jsonRows<R>(engine: EngineName, rows: readonly unknown[], types: ColumnTypes<R>): RawBuilder<R> {
  const names = Object.keys(types) as (keyof R & string)[]
  const columns = names.map((name, i) =>
    engine === 'postgres'
      ? sql`cast(value ->> ${sql.lit(i)} as ${sql.raw(types[name])}) as ${sql.ref(name)}`
      : sql`value ->> ${sql.lit(i)} as ${sql.ref(name)}`,
  )
  const source = engine === 'postgres' ? sql`jsonb_array_elements(${rows}::jsonb)` : sql`json_each(${rows})`
  return sql`(select ${sql.join(columns)} from ${source})`
}

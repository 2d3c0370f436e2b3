// Writes many rows with one statement or a few, instead of one for each row.

import { CompiledQuery } from 'kysely'
import type { DatabaseSchema } from '../schema/schema.ts'
import { declareStatement } from '../statement-observer.ts'
import type { SystemTx } from '../system.ts'
import type { WriteTarget } from '../written-rows.ts'

export type NumberRow = readonly (number | null)[]

/** The values of some rows, one after the other. `flat()` takes three times as long. */
function valuesOf(rows: readonly NumberRow[], from: number, to: number): (number | null)[] {
  const values: (number | null)[] = []
  for (let i = from; i < to; i++) for (const value of rows[i] as NumberRow) values.push(value)
  return values
}

/** Rows per statement on SQLite. More rows are not faster, and each size is one more prepared statement. */
const rowsPerStatement = [100, 10, 1] as const

/**
 * Inserts rows of whole numbers, given in the order of the columns. `conflict` follows ON CONFLICT, and may include RETURNING.
 * PostgreSQL gets one array for each column. SQLite has no arrays, and parsing JSON would cost it more than the write itself.
 */
export function insertMany<T extends keyof DatabaseSchema>(
  table: T,
  columns: readonly (keyof DatabaseSchema[T] & string)[],
  conflict: string,
): (on: SystemTx, rows: readonly NumberRow[]) => Promise<unknown[]> {
  const into = `insert into ${table} (${columns.join(', ')})`
  const row = `(${columns.map(() => '?').join(', ')})`
  const bySize = rowsPerStatement.map((size) => ({
    size,
    insert: CompiledQuery.raw(`${into} values ${Array(size).fill(row).join(', ')} on conflict ${conflict}`),
  }))
  const arrays = columns.map((_, i) => `$${i + 1}::bigint[]`).join(', ')
  const byArrays = CompiledQuery.raw(`${into} select * from unnest(${arrays}) on conflict ${conflict}`)

  for (const { insert } of bySize) declareStatement('sqlite')('sqlite', insert)
  declareStatement('postgres')('postgres', byArrays)

  const everything = { table, org: undefined, where: {} }
  const target: WriteTarget = { table, rows: () => [everything] }

  return async (on, rows) => {
    if (rows.length === 0) return []
    on.noteWrite(target, {}, undefined)
    if (on.engine === 'postgres') {
      // The arrays are passed as text, because the driver would quote every number.
      const values = columns.map((_, i) => `{${rows.map((row) => row[i] ?? 'NULL').join()}}`)
      return on.run(byArrays, values)
    }
    const returned: unknown[] = []
    let at = 0
    for (const { size, insert } of bySize) {
      for (; rows.length - at >= size; at += size) {
        returned.push(...(await on.run(insert, valuesOf(rows, at, at + size))))
      }
    }
    return returned
  }
}

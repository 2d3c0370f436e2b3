// Reads and writes whole tables in batches, in the order of their primary keys, with bounded memory.
import { CompiledQuery, sql } from 'kysely'
import type { EngineName, StatementRunner } from '../engine.ts'
import type { TableShape } from './catalog.ts'

/** One side of a copy: a database inside a transaction. */
export interface TableSide extends Pick<StatementRunner, 'kysely'> {
  readonly engine: EngineName
}

export type TableRow = Readonly<Record<string, unknown>>

const maxRowsPerBatch = 1000
/** SQLite takes 32,766 values in a statement; more rows are not faster. */
const maxRowsPerSqliteInsert = 100

export async function countRows({ kysely }: TableSide, table: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(kysely)
  return Number(rows[0]?.count)
}

export async function hasRows({ kysely }: TableSide, table: string): Promise<boolean> {
  const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(kysely)
  return rows.length > 0
}

/** Each batch continues after the last key of the one before, so no cursor and no offset is needed. */
export async function* readBatches({ kysely }: TableSide, table: TableShape): AsyncGenerator<readonly TableRow[]> {
  const columns = sql.join(table.columns.map((c) => sql.ref(c.name)))
  const key = sql.join(table.primaryKey.map((name) => sql.ref(name)))
  let last: TableRow | undefined
  for (;;) {
    const from = sql`select ${columns} from ${sql.table(table.name)}`
    const after = last && sql.join(table.primaryKey.map((name) => last?.[name]))
    const where = after ? sql`where (${key}) > (${after})` : sql``
    const { rows } = await sql<TableRow>`${from} ${where} order by ${key} limit ${sql.lit(maxRowsPerBatch)}`.execute(
      kysely,
    )
    if (rows.length > 0) yield rows
    if (rows.length < maxRowsPerBatch) return
    last = rows.at(-1)
  }
}

/** The shape must be that of the table on this side. */
export async function insertRows(side: TableSide, table: TableShape, rows: readonly TableRow[]): Promise<void> {
  const run = (text: string, values: readonly unknown[]) =>
    side.kysely.executeQuery(CompiledQuery.raw(text, [...values]))
  const names = table.columns.map((c) => c.name)
  const into = `insert into "${table.name}" (${names.map((name) => `"${name}"`).join(', ')})`
  if (side.engine === 'postgres') {
    const arrays = table.columns.map((c, i) => `$${i + 1}::${c.type}[]`).join(', ')
    const values = names.map((name) => rows.map((row) => row[name]))
    await run(`${into} overriding system value select * from unnest(${arrays})`, values)
    return
  }
  const placeholders = `(${names.map(() => '?').join(', ')})`
  for (let start = 0; start < rows.length; start += maxRowsPerSqliteInsert) {
    const part = rows.slice(start, start + maxRowsPerSqliteInsert)
    const values = part.flatMap((row) => names.map((name) => row[name]))
    await run(`${into} values ${part.map(() => placeholders).join(', ')}`, values)
  }
}

/** Lets the numbering of PostgreSQL continue after the highest number; SQLite does so by itself. */
export async function continueNumbering({ kysely, engine }: TableSide, table: TableShape): Promise<void> {
  if (engine === 'sqlite') return
  for (const { name } of table.columns.filter((c) => c.isIdentity)) {
    const highest = sql`max(${sql.ref(name)})`
    await sql`select setval(pg_get_serial_sequence(${table.name}, ${name}), coalesce(${highest}, 1), ${highest} is not null)
      from ${sql.table(table.name)}`.execute(kysely)
  }
}

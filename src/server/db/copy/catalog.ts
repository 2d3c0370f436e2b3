// Reads from the database itself which tables it has, so that no list of tables can become incomplete.
import { sql } from 'kysely'
import type { EngineName, StatementRunner } from '../engine.ts'

export interface TableColumn {
  readonly name: string
  /** The type on PostgreSQL; empty on SQLite. */
  readonly type: string
  /** True if the database numbers the rows by itself. */
  readonly isIdentity: boolean
}

export interface TableShape {
  readonly name: string
  readonly columns: readonly TableColumn[]
  readonly primaryKey: readonly string[]
  /** The tables that its foreign keys refer to. */
  readonly references: readonly string[]
}

/** Kysely writes these two when it migrates. */
const migrationTables = ['migrations', 'migrations_lock']

interface ColumnRow {
  readonly table_name: string
  readonly column_name: string
  readonly type: string
  readonly is_identity: boolean | number
  /** The position in the primary key, from 1; 0 or null if the column is not in it. */
  readonly key_position: number | null
}

const columnsSql: Readonly<Record<EngineName, string>> = {
  sqlite: `select t.name as table_name, c.name as column_name, '' as type, 0 as is_identity, c.pk as key_position
    from sqlite_schema t join pragma_table_info(t.name) c
    where t.type = 'table' and t.name not like 'sqlite\\_%' escape '\\'
    order by t.name, c.cid`,
  // A partition is read and written through its table.
  postgres: `select t.relname as table_name, c.attname as column_name, format_type(c.atttypid, c.atttypmod) as type,
      c.attidentity <> '' as is_identity,
      (select k.position from unnest(i.indkey) with ordinality k (attnum, position) where k.attnum = c.attnum) as key_position
    from pg_class t
    join pg_attribute c on c.attrelid = t.oid and c.attnum > 0 and not c.attisdropped
    left join pg_index i on i.indrelid = t.oid and i.indisprimary
    where t.relnamespace = current_schema()::regnamespace and t.relkind in ('r', 'p') and not t.relispartition
    order by t.relname, c.attnum`,
}

const referencesSql: Readonly<Record<EngineName, string>> = {
  sqlite: `select distinct t.name as table_name, f."table" as referenced
    from sqlite_schema t join pragma_foreign_key_list(t.name) f where t.type = 'table'`,
  postgres: `select distinct t.relname as table_name, r.relname as referenced
    from pg_constraint f join pg_class t on t.oid = f.conrelid join pg_class r on r.oid = f.confrelid
    where f.contype = 'f' and t.relnamespace = current_schema()::regnamespace`,
}

/** Lists all tables but those of migrations. A table comes after those that it refers to. */
export async function listTables(
  { kysely }: Pick<StatementRunner, 'kysely'>,
  engine: EngineName,
): Promise<TableShape[]> {
  const { rows } = await sql.raw<ColumnRow>(columnsSql[engine]).execute(kysely)
  const references = await sql.raw<{ table_name: string; referenced: string }>(referencesSql[engine]).execute(kysely)
  const byTable = Map.groupBy(rows, (row) => row.table_name)
  const shapes = [...byTable].map(([name, columns]) => ({
    name,
    columns: columns.map((c) => ({ name: c.column_name, type: c.type, isIdentity: Boolean(c.is_identity) })),
    primaryKey: columns
      .filter((c) => c.key_position)
      .sort((a, b) => Number(a.key_position) - Number(b.key_position))
      .map((c) => c.column_name),
    references: references.rows.filter((r) => r.table_name === name).map((r) => r.referenced),
  }))
  return inOrderOfReferences(shapes.filter((t) => !migrationTables.includes(t.name)))
}

function inOrderOfReferences(shapes: readonly TableShape[]): TableShape[] {
  const ordered: TableShape[] = []
  const waiting = new Set(shapes)
  while (waiting.size > 0) {
    const isPlaced = (name: string) => ![...waiting].some((t) => t.name === name)
    const next = [...waiting].filter((t) => t.references.every((name) => name === t.name || isPlaced(name)))
    if (next.length === 0) throw new Error(`tables refer to each other in a circle: ${[...waiting].map((t) => t.name)}`)
    for (const table of next) waiting.delete(table)
    ordered.push(...next)
  }
  return ordered
}

// Checks a database as a whole: its pages and rows, its references, its audit logs, and whether the secret key fits.

import { sql } from 'kysely'
import type { Org } from '../auth/token-holder.ts'
import { RegionAccess } from '../core/region-access.ts'
import type { Secrets } from '../core/secrets.ts'
import { listTables } from '../db/copy/catalog.ts'
import type { TableSide } from '../db/copy/table-rows.ts'
import type { StatementRunner } from '../db/engine.ts'
import { OrgReader } from '../db/handles.ts'
import { type ChainVerdict, verifyChain } from '../journal/audit/chain.ts'
import { countText } from './count-text.ts'
import { openSealedValues } from './sealed-values.ts'

export interface CheckLine {
  readonly check: 'integrity' | 'references' | 'audit log' | 'secret key'
  readonly isGood: boolean
  /** Completes the line, such as "34 tables were read". */
  readonly result: string
}

/** Throws the error of the database if that prevents the check, such as a lost connection. */
export async function checkIntegrity(side: TableSide): Promise<CheckLine> {
  try {
    const tables = await listTables(side, side.engine)
    const problem = side.engine === 'sqlite' ? await sqliteDamage(side) : await unreadableTable(side, tables)
    if (problem !== undefined) return damageLine(problem)
    return { check: 'integrity', isGood: true, result: `${tables.length} tables are intact` }
  } catch (error) {
    if (isDamage(error)) return damageLine((error as Error).message)
    throw error
  }
}

export const damageLine = (result: string): CheckLine => ({ check: 'integrity', isGood: false, result })

/** True for the errors with which SQLite and PostgreSQL (class XX) report damaged data, but not for a lock or a lost connection. */
export function isDamage(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && /^(SQLITE_CORRUPT|SQLITE_NOTADB|XX[0-9A-Z]{3}$)/.test(code)
}

async function sqliteDamage({ kysely }: TableSide): Promise<string | undefined> {
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check(5)`.execute(kysely)
  const problems = rows.map((row) => row.integrity_check).filter((text) => text !== 'ok')
  return problems.length === 0 ? undefined : problems.join('; ').replaceAll('\n', '; ')
}

/** PostgreSQL has no check of its own, so every value is read: a damaged page or value is an error. */
async function unreadableTable(side: TableSide, tables: readonly { name: string }[]): Promise<string | undefined> {
  for (const { name } of tables) {
    try {
      await sql`select sum(length(t::text)) from ${sql.table(name)} t`.execute(side.kysely)
    } catch (error) {
      if (!isDamage(error)) throw error
      return `the table ${name} cannot be read: ${(error as Error).message}`
    }
  }
  return undefined
}

export async function checkReferences(side: TableSide): Promise<CheckLine> {
  const broken = side.engine === 'sqlite' ? await sqliteOrphans(side) : await postgresOrphans(side)
  const result = broken.length === 0 ? 'every row that is referred to exists' : broken.join('; ')
  return { check: 'references', isGood: broken.length === 0, result }
}

async function sqliteOrphans({ kysely }: TableSide): Promise<string[]> {
  const { rows } = await sql<{ table: string; parent: string }>`pragma foreign_key_check`.execute(kysely)
  const byPair = Map.groupBy(rows, ({ table, parent }) => `${table} ${parent}`)
  return [...byPair.values()].map((orphans) => orphanText(orphans.length, orphans[0]?.table, orphans[0]?.parent))
}

const orphanText = (count: number, table = '', parent = ''): string =>
  `${countText(count, 'row', 'rows')} of ${table} ${count === 1 ? 'refers' : 'refer'} to missing rows of ${parent}`

interface ForeignKey {
  readonly table_name: string
  readonly referenced: string
  readonly columns: string[]
  readonly targets: string[]
}

/** A restored database, or one whose triggers were switched off, may have rows that PostgreSQL did not check. */
async function postgresOrphans({ kysely }: TableSide): Promise<string[]> {
  const names = (oid: string, numbers: string) =>
    `(select array_agg(a.attname::text order by n.position) from unnest(${numbers}) with ordinality n (attnum, position)
      join pg_attribute a on a.attrelid = ${oid} and a.attnum = n.attnum)`
  const keys = await sql
    .raw<ForeignKey>(
      `select t.relname as table_name, r.relname as referenced, ${names('f.conrelid', 'f.conkey')} as columns,
        ${names('f.confrelid', 'f.confkey')} as targets
      from pg_constraint f join pg_class t on t.oid = f.conrelid join pg_class r on r.oid = f.confrelid
      where f.contype = 'f' and t.relnamespace = current_schema()::regnamespace`,
    )
    .execute(kysely)
  const broken: string[] = []
  for (const { table_name, referenced, columns, targets } of keys.rows) {
    const isSet = columns.map((name) => `t."${name}" is not null`).join(' and ')
    const isSame = columns.map((name, i) => `r."${targets[i]}" = t."${name}"`).join(' and ')
    const { rows } = await sql
      .raw<{ count: number }>(
        `select count(*) as count from "${table_name}" t
        where ${isSet} and not exists (select 1 from "${referenced}" r where ${isSame})`,
      )
      .execute(kysely)
    const count = Number(rows[0]?.count)
    if (count > 0) broken.push(orphanText(count, table_name, referenced))
  }
  return broken
}

/** Checks audit logs and sealed values, with the secrets that belong to the database. */
export async function checkSecretParts(
  side: TableSide & StatementRunner,
  secrets: Secrets,
  orgs: readonly Org[],
): Promise<CheckLine[]> {
  const verdicts: ChainVerdict[] = []
  for (const org of orgs) {
    verdicts.push(
      await verifyChain(
        new OrgReader({ org: org.key, access: RegionAccess.everything }, side.engine, side),
        secrets,
        org,
        [],
      ),
    )
  }
  const sealed = await openSealedValues(side, secrets, orgs)
  return [
    ...verdicts.map(
      ({ org, entries, problem }): CheckLine => ({
        check: 'audit log',
        isGood: problem === undefined,
        result:
          problem === undefined
            ? `the ${countText(entries, 'entry', 'entries')} of ${org} ${entries === 1 ? 'is' : 'are'} verified`
            : `${org} is broken: ${problem}`,
      }),
    ),
    {
      check: 'secret key',
      isGood: sealed.problem === undefined,
      result:
        sealed.problem ?? `the key fits, and opens ${countText(sealed.opened, 'encrypted value', 'encrypted values')}`,
    },
  ]
}

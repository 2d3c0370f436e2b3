// A disk that a test can fill and free again under the database of a service.
import { sql } from 'kysely'
import pg from 'pg'
import { engine, type Harness } from '../harness.ts'

export interface Disk {
  fill(): Promise<void>
  free(): Promise<void>
}

/** SQLite: not a page more than there is. */
function diskOfSqlite({ services }: Harness): Disk {
  const { schema } = services.db
  const limit = async (pages: number) =>
    void (await sql`pragma max_page_count = ${sql.raw(`${pages}`)}`.execute(schema))
  return {
    async fill() {
      const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(schema)
      await limit(rows[0]?.page_count ?? 0)
    },
    free: () => limit(1_000_000),
  }
}

/** PostgreSQL: tables that say what a full disk says. A real one would keep others of the cluster from their checkpoints. */
export function fullPostgres(connectionString: string | undefined, tables: readonly string[]): Disk {
  const run = async (...statements: string[]) => {
    const client = new pg.Client({ connectionString })
    await client.connect()
    for (const statement of statements) await client.query(statement)
    await client.end()
  }
  return {
    fill: () =>
      run(
        `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
           RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`,
        ...tables.map(
          (table) => `CREATE TRIGGER full_disk BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION full_disk()`,
        ),
      ),
    free: () => run('DROP FUNCTION full_disk CASCADE'),
  }
}

export const diskOf = (harness: Harness): Disk =>
  engine === 'sqlite'
    ? diskOfSqlite(harness)
    : fullPostgres(harness.place.databaseUrl, ['samples', 'audit_log', 'settings'])

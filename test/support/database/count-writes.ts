// Counts the rows that are written to each table, by triggers that the database itself runs.
import { sql } from 'kysely'
import type { Database } from '../../../src/server/db/db.ts'

/** Begins to count. The result returns how many rows of each table were written since. */
export async function countWrites(
  db: Database,
  tables: readonly string[],
): Promise<() => Promise<Record<string, number>>> {
  const run = (text: string) => sql.raw(text).execute(db.schema)
  await run('create table test_writes (table_name text not null)')
  if (db.engine === 'postgres') {
    await run(`create function test_note_write() returns trigger language plpgsql as
      'begin insert into test_writes values (TG_TABLE_NAME); return null; end'`)
  }
  for (const table of tables) {
    // The row of a node that is up changes every second, which belongs to no stop or start.
    const update = table === 'nodes' ? 'update of state' : 'update'
    for (const event of ['insert', update, 'delete']) {
      const body =
        db.engine === 'postgres'
          ? 'for each row execute function test_note_write()'
          : `begin insert into test_writes values ('${table}'); end`
      await run(`create trigger test_${table}_${event.slice(0, 6)} after ${event} on ${table} ${body}`)
    }
  }
  return async () => {
    const { rows } = await sql<{ name: string; count: number }>`
      select table_name as name, count(*) as count from test_writes group by table_name order by table_name
    `.execute(db.schema)
    // PostgreSQL names the partition that a sample is written to.
    return Object.fromEntries(rows.map(({ name, count }) => [name.replace(/_day_\d+$/, ''), Number(count)]))
  }
}

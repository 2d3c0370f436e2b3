// Everything that a running service has stored, for tests that prove that nothing has changed.
import { listTables } from '../../../src/server/db/copy/catalog.ts'
import { readBatches, type TableRow } from '../../../src/server/db/copy/table-rows.ts'
import { withoutTransaction } from '../../../src/server/db/copy/transaction-side.ts'
import type { Harness } from '../harness.ts'

/** The service writes these by itself: which nodes run, which of them holds a task, and how far rollups are. */
const bookkeepingTables = ['nodes', 'tasks', 'sample_progress']
/** Any request changes these, also one that is refused. */
const timesOfUse = ['last_used_at', 'used_at', 'last_seen_at']

/** The rows of all tables by table, as comparable text, without the times at which keys and sessions were used. */
export async function storedRows({ services }: Harness): Promise<Record<string, string[]>> {
  const side = withoutTransaction(services.db)
  const content: Record<string, string[]> = {}
  for (const table of await listTables(side, side.engine)) {
    if (bookkeepingTables.includes(table.name)) continue
    const rows: string[] = []
    for await (const batch of readBatches(side, table)) rows.push(...batch.map(rowText))
    if (rows.length > 0) content[table.name] = rows.sort()
  }
  return content
}

const rowText = (row: TableRow): string =>
  JSON.stringify(
    Object.entries(row)
      .filter(([name]) => !timesOfUse.includes(name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, Buffer.isBuffer(value) ? value.toString('hex') : value]),
  )

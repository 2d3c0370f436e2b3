// Everything that a running service has stored, for tests that prove that nothing has changed.
import { expect } from 'vitest'
import { listTables, type TableShape } from '../../../src/server/db/copy/catalog.ts'
import { readBatches, type TableRow } from '../../../src/server/db/copy/table-rows.ts'
import { withoutTransaction } from '../../../src/server/db/copy/transaction-side.ts'
import type { Harness } from '../harness.ts'

/** The service writes these by itself: which nodes run, which of them holds a task, rollups and how far they are, and what it observes. */
const bookkeepingTables = [
  'nodes',
  'tasks',
  ...['sample_due', 'sample_quarters', 'sample_hours', 'sample_days', 'sample_progress'],
  'incident_progress',
  'findings',
  'known_peripherals',
  'credential_attempts',
]
/** Any request changes these, also one that is refused. */
const timesOfUse = ['last_used_at', 'used_at', 'last_seen_at']

/** Scheduled tasks write these too: commands expire, jobs advance, incidents open and end, messages are delivered. */
const tablesOfTasks = [
  'operations',
  ...['jobs', 'job_units', 'job_endpoints', 'job_moves'],
  ...['recurring_jobs', 'recurring_job_locations', 'recurring_job_runs'],
  ...['incidents', 'incident_subjects', 'incident_timeline'],
  ...['messages', 'deliveries', 'announced_incidents'],
]
/** A difference in a table that tasks write counts only if every attempt shows it: a request that leaves a trace there does so each time. */
const maxLooks = 3

/** Proves that requests leave no trace. */
export async function leavesNoTrace(harness: Harness, requests: () => Promise<void>): Promise<void> {
  for (let look = 1; ; look++) {
    const before = await storedRows(harness)
    await requests()
    const changed = changedRows(before, await storedRows(harness))
    const tables = Object.keys(changed)
    if (tables.length === 0) return
    const isByTasks = tables.every((table) => tablesOfTasks.includes(table))
    if (!isByTasks || look === maxLooks) return expect(changed).toEqual({})
  }
}

type RowsByTable = Readonly<Record<string, readonly string[]>>

/** The rows that are there on one side only, by table. */
function changedRows(before: RowsByTable, after: RowsByTable): RowsByTable {
  const changed: Record<string, string[]> = {}
  for (const table of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [new Set(before[table]), new Set(after[table])]
    const rows = [...old.symmetricDifference(now)]
    if (rows.length > 0) changed[table] = rows
  }
  return changed
}

/** The rows of all tables by table, as comparable text, without the times at which keys and sessions were used. */
async function storedRows({ services }: Harness): Promise<RowsByTable> {
  const side = withoutTransaction(services.db)
  const content: Record<string, string[]> = {}
  for (const table of await tablesOf(services)) {
    if (bookkeepingTables.includes(table.name)) continue
    const rows: string[] = []
    for await (const batch of readBatches(side, table)) rows.push(...batch.map(rowText))
    if (rows.length > 0) content[table.name] = rows
  }
  return content
}

/** Tables do not change while a service runs, and listing them takes longer than reading most of them. */
const knownTables = new WeakMap<Harness['services'], Promise<TableShape[]>>()

function tablesOf(services: Harness['services']): Promise<TableShape[]> {
  const side = withoutTransaction(services.db)
  const tables = knownTables.get(services) ?? listTables(side, side.engine)
  knownTables.set(services, tables)
  return tables
}

const rowText = (row: TableRow): string =>
  JSON.stringify(
    Object.entries(row)
      .filter(([name]) => !timesOfUse.includes(name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, Buffer.isBuffer(value) ? value.toString('hex') : value]),
  )

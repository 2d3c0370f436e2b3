// Copies a whole database to another one, SQLite or PostgreSQL, and verifies the copy before it is committed.
import { sql } from 'kysely'
import type { DatabaseOptions } from '../config/server-options.ts'
import { StartupError } from '../core/failure.ts'
import { type CopiedTable, copyTables, findUsedTable } from '../db/copy/copy-tables.ts'
import { inLongTransaction, withoutTransaction } from '../db/copy/transaction-side.ts'
import { loadDatabaseSecrets } from '../db/database-secrets.ts'
import type { Database } from '../db/db.ts'
import { openDatabase, prepareDataFolder } from '../db/open.ts'
import { takeServerLock } from '../db/server-lock.ts'
import { listOrgs } from '../resources/orgs/store.ts'
import { makePartition } from '../resources/sensors/rollups/partitions.ts'
import { days, slots } from '../resources/sensors/slots.ts'
import { type CheckLine, checkReferences, checkSecretParts } from './check-database.ts'
import { type CopiedBundles, copyBundles } from './copy-bundles.ts'

export interface CopyRequest {
  readonly from: DatabaseOptions
  readonly to: DatabaseOptions
  readonly secretKeyFile: string
  /** The key itself instead of the file. */
  readonly secretKey?: string | undefined
  readonly onCopied: (copied: CopiedTable) => void
}

export interface CopyResult {
  readonly tables: readonly CopiedTable[]
  readonly bundles: CopiedBundles
  readonly checks: readonly CheckLine[]
}

/** Wants a source without a server and an empty target. A failure, or a crash, leaves the target empty. */
export async function copyDatabase({ from, to, secretKeyFile, secretKey, onCopied }: CopyRequest): Promise<CopyResult> {
  await using stack = new AsyncDisposableStack()
  const source = await openLocked(stack, 'source', from, true)
  const orgs = await listOrgs(source.system)
  if (orgs.length === 0) throw new StartupError('The source has no organisation, so there is nothing to copy.')
  const secrets = await loadDatabaseSecrets(source, secretKeyFile, secretKey)
  const target = await openLocked(stack, 'target', to, false)
  const used = await findUsedTable(withoutTransaction(target))
  if (used !== undefined) {
    throw new StartupError(
      `The target is not empty: its table ${used} has rows. Name an empty database; nothing was copied.`,
    )
  }
  if (target.engine === 'postgres') await makePartitionsFor(source, target)
  const result = await inLongTransaction(target, async (copy) => {
    const tables = await inLongTransaction(source, (original) => copyTables(original, copy, onCopied))
    const bundles = await copyBundles({ db: source, place: from }, { db: target, place: to }, copy)
    const checks = [await checkReferences(copy), ...(await checkSecretParts(copy, secrets, orgs))]
    const failed = checks.find((line) => !line.isGood)
    if (failed) {
      throw new StartupError(
        `The copy was not made, because it would fail a check (${failed.check}): ${failed.result}. Run "roomkeeper check" on the source.`,
      )
    }
    return { tables, bundles, checks }
  })
  // Until autovacuum analyses the new rows, the planner would take the tables for empty.
  if (target.engine === 'postgres') await sql`analyze`.execute(target.schema)
  return result
}

async function openLocked(
  stack: AsyncDisposableStack,
  role: 'source' | 'target',
  place: DatabaseOptions,
  mustExist: boolean,
): Promise<Database> {
  if (role === 'target' && place.databaseUrl === undefined) prepareDataFolder(place.dataDir)
  try {
    stack.defer(await takeServerLock(place))
  } catch (error) {
    const { message } = error as Error
    if (message.startsWith('Another')) throw new StartupError(`A server is running on the ${role}. Stop it first.`)
    throw error
  }
  const { db } = await openDatabase(place, { isLocked: true, mustExist, onError() {} })
  stack.defer(() => db.close())
  return db
}

const partitionLockTimeoutMs = 10_000

/** PostgreSQL refuses a sample of a day that has no partition. Empty partitions do no harm if the copy fails. */
async function makePartitionsFor(source: Database, target: Database): Promise<void> {
  const slotsPerDay = slots.at(days.start(1))
  const { rows } = await sql<{
    day: number
  }>`select distinct slot / ${sql.lit(slotsPerDay)} as day from samples`.execute(source.schema)
  for (const { day } of rows) {
    if (await makePartition(target, Number(day), partitionLockTimeoutMs)) continue
    throw new StartupError('Another program uses the tables of the target. End it, and try again; nothing was copied.')
  }
}

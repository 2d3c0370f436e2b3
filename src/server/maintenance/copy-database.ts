// Copies a whole database to another one, SQLite or PostgreSQL, and verifies the copy before it is committed.
import { sql } from 'kysely'
import type { DatabaseOptions } from '../config/server-options.ts'
import { forgetRecordedPostgres } from '../config/server-record.ts'
import { StartupError } from '../core/failure.ts'
import { days, slots } from '../core/time/slots.ts'
import { timeLimits } from '../core/time-limits.ts'
import {
  type CopiedMark,
  copiedSentences,
  databasePlaceText,
  deleteCopiedMark,
  findCopiedMark,
  writeCopiedMark,
} from '../db/copied-mark.ts'
import { type CopiedTable, copyTables, findUsedTable } from '../db/copy/copy-tables.ts'
import { inLongTransaction, type TransactionSide, withoutTransaction } from '../db/copy/transaction-side.ts'
import { loadDatabaseSecrets } from '../db/database-secrets.ts'
import type { Database } from '../db/db.ts'
import { pendingMigrations } from '../db/migrate.ts'
import { hasDatabase, openDatabase, openExisting, prepareDataFolder } from '../db/open.ts'
import { takeServerLock } from '../db/server-lock.ts'
import { listOrgs } from '../journal/orgs/store.ts'
import { makePartition } from '../sensors/rollups/partitions.ts'
import { type CheckLine, checkReferences, checkSecretParts } from './check-database.ts'
import { type CopiedBundles, copyBundles } from './copy-bundles.ts'

export interface CopyRequest {
  readonly from: DatabaseOptions
  readonly to: DatabaseOptions
  readonly secretKeyFile: string
  /** The key itself instead of the file. */
  readonly secretKey?: string | undefined
  /** True to leave the source in use. */
  readonly isRehearsal?: boolean
  readonly onCopied: (copied: CopiedTable) => void
}

export interface CopyResult {
  readonly tables: readonly CopiedTable[]
  readonly bundles: CopiedBundles
  readonly checks: readonly CheckLine[]
}

/**
 * Wants a source without a server and an empty target. A failure, or a crash, leaves the target empty. The source is marked as copied, and no
 * server starts on it again.
 */
export async function copyDatabase(request: CopyRequest): Promise<CopyResult> {
  const { from, to, secretKeyFile, secretKey, isRehearsal = false, onCopied } = request
  await using stack = new AsyncDisposableStack()
  const source = await openLocked(stack, 'source', from, true)
  const earlier = await findCopiedMark(source)
  if (earlier && (isRehearsal || earlier.to !== databasePlaceText(to)))
    throw new StartupError(copiedSentences(from, earlier))
  const orgs = await listOrgs(source.system)
  if (orgs.length === 0) throw new StartupError('The source has no organisation, so there is nothing to copy.')
  const secrets = await loadDatabaseSecrets(source, secretKeyFile, secretKey)
  const target = await openLocked(stack, 'target', to, false)
  const used = await findUsedTable(withoutTransaction(target))
  if (used !== undefined) {
    throw new StartupError(
      earlier
        ? copiedSentences(from, earlier)
        : `The target is not empty: its table ${used} has rows. Name an empty database; nothing was copied.`,
    )
  }
  // A crash came between the mark and the commit of the target. The copy must not have the mark.
  if (earlier) await deleteCopiedMark(source)
  if (target.engine === 'postgres') await makePartitionsFor(source, target)
  const mark = isRehearsal ? undefined : { to: databasePlaceText(to), at: new Date().toISOString() }
  const result = await commitWithMark(source, target, mark, async (copy) => {
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
  // The folder may be that of a server on the source.
  if (mark && !to.databaseUrl) forgetRecordedPostgres(to.dataDir)
  // Until autovacuum analyses the new rows, the planner would take the tables for empty.
  if (target.engine === 'postgres') await sql`analyze`.execute(target.schema)
  return result
}

/**
 * Marks the source between the last check of the copy and its commit. After a crash, a source without a mark has an empty target; the opposite
 * order could leave two complete databases, and servers could start on both.
 */
async function commitWithMark<T>(
  source: Database,
  target: Database,
  mark: CopiedMark | undefined,
  work: (copy: TransactionSide) => Promise<T>,
): Promise<T> {
  let done: { readonly result: T } | undefined
  try {
    return await inLongTransaction(target, async (copy) => {
      const result = await work(copy)
      if (mark) await writeCopiedMark(source, mark)
      done = { result }
      return result
    })
  } catch (error) {
    if (!done) throw error
    const isCommitted = await findUsedTable(withoutTransaction(target)).then(
      (table) => table !== undefined,
      () => undefined,
    )
    if (isCommitted === true) return done.result
    if (isCommitted === false) {
      if (mark) await deleteCopiedMark(source)
      throw error
    }
    throw new StartupError(
      `The target does not answer, so it is not known whether the copy was committed: ${(error as Error).message}. The source is marked as copied. Run the same command again: it copies if the target is empty.`,
    )
  }
}

interface UnmarkResult {
  /** The place of the copy; undefined if the database was not marked. */
  readonly copiedTo: string | undefined
  /** The PostgreSQL database that server.json named and names no longer. */
  readonly forgotten: string | undefined
}

/** Lets a server start on a database that was copied, and on SQLite in a folder whose last server used PostgreSQL. */
export async function unmarkDatabase(place: DatabaseOptions): Promise<UnmarkResult> {
  await using stack = new AsyncDisposableStack()
  let copiedTo: string | undefined
  if (hasDatabase(place)) {
    stack.defer(await takeLock('source', place))
    const db = await openExisting(place)
    stack.defer(() => db.close())
    const { isNew } = await pendingMigrations(db)
    copiedTo = isNew ? undefined : (await findCopiedMark(db))?.to
    if (copiedTo !== undefined) await deleteCopiedMark(db)
  }
  return { copiedTo, forgotten: place.databaseUrl ? undefined : forgetRecordedPostgres(place.dataDir) }
}

async function openLocked(
  stack: AsyncDisposableStack,
  role: 'source' | 'target',
  place: DatabaseOptions,
  mustExist: boolean,
): Promise<Database> {
  if (role === 'target' && place.databaseUrl === undefined) prepareDataFolder(place.dataDir)
  stack.defer(await takeLock(role, place))
  const { db } = await openDatabase(place, { isLocked: true, mustExist, mayBeCopied: true, onError() {} })
  stack.defer(() => db.close())
  return db
}

async function takeLock(role: 'source' | 'target', place: DatabaseOptions): Promise<() => Promise<void>> {
  try {
    return await takeServerLock(place)
  } catch (error) {
    const { message } = error as Error
    if (message.startsWith('Another')) throw new StartupError(`A server is running on the ${role}. Stop it first.`)
    throw error
  }
}

/** PostgreSQL refuses a sample of a day that has no partition. Empty partitions do no harm if the copy fails. */
async function makePartitionsFor(source: Database, target: Database): Promise<void> {
  const slotsPerDay = slots.at(days.start(1))
  const { rows } = await sql<{
    day: number
  }>`select distinct slot / ${sql.lit(slotsPerDay)} as day from samples`.execute(source.schema)
  for (const { day } of rows) {
    if (await makePartition(target, Number(day), timeLimits.partitionLockMs)) continue
    throw new StartupError('Another program uses the tables of the target. End it, and try again; nothing was copied.')
  }
}

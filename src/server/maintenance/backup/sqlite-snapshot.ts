// Takes a snapshot of a SQLite database that is in use. VACUUM INTO blocks the thread, so a server must not call this itself.
import Database from 'better-sqlite3'
import { StartupError } from '../../core/failure.ts'
import { createPrivateFile } from '../../core/private-files.ts'
import { timeLimits } from '../../core/time-limits.ts'

/** Facts about the database at the moment of the snapshot. */
export interface SnapshotFacts {
  readonly migrations: readonly string[]
  /** Absent if no server has used the database. */
  readonly secretFingerprint: string | undefined
}

/** A restored server must not accept sessions that have ended since, or links that were used. */
export const signInTables = ['sessions', 'login_links', 'user_sessions', 'user_links'] as const

/** Copies the state of one moment, whatever is written concurrently. Sessions and sign-in links are left out. */
export function takeSnapshot(source: string, target: string, withBundles: boolean): SnapshotFacts {
  try {
    createPrivateFile(target)
    const live = new Database(source, { readonly: true, timeout: timeLimits.fileLockMs })
    try {
      live.prepare('vacuum into ?').run(target)
    } finally {
      live.close()
    }
    const copy = new Database(target)
    try {
      return finishSnapshot(copy, withBundles)
    } finally {
      copy.close()
    }
  } catch (error) {
    if (error instanceof StartupError) throw error
    throw new StartupError(`Cannot back up ${source}: ${(error as Error).message}. No backup was made.`)
  }
}

function finishSnapshot(copy: Database.Database, withBundles: boolean): SnapshotFacts {
  // Deleted rows are overwritten, so that the file does not contain them either.
  copy.pragma('secure_delete = on')
  const hasTable = copy.prepare("select 1 from sqlite_schema where type = 'table' and name = ?")
  // Without their files, uploads must not count against the quota of the restored server.
  for (const table of [...signInTables, ...(withBundles ? [] : ['bundle_uploads'])])
    if (hasTable.get(table)) copy.exec(`delete from ${table}`)
  const [damage] = copy.pragma('integrity_check(1)') as { integrity_check: string }[]
  const orphans = copy.pragma('foreign_key_check') as unknown[]
  if (damage?.integrity_check !== 'ok' || orphans.length > 0) {
    throw new StartupError(
      'The database is damaged, so no backup was made. Run "roomkeeper check", and keep older backups.',
    )
  }
  const migrations = copy.prepare('select name from migrations order by name').pluck().all() as string[]
  const secretFingerprint = copy.prepare("select value from settings where name = 'secret identity'").pluck().get()
  return { migrations, secretFingerprint: secretFingerprint as string | undefined }
}

// Checks of the database, the secret key, the data folder's disk and the clock. They create and change nothing.
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { sensorSettingsOf } from '../../server/config/sensor-settings.ts'
import type { ServeOptions } from '../../server/config/server-options.ts'
import { givenTexts, sharedValuesOf } from '../../server/config/stored-options.ts'
import { secretKeyFileOf } from '../../server/context/open-services.ts'
import { secretKeyVariable } from '../../server/core/secrets.ts'
import { copiedSentences, findCopiedMark } from '../../server/db/copied-mark.ts'
import { loadDatabaseSecrets } from '../../server/db/database-secrets.ts'
import { databaseTime, databaseVersion, newestAuditTime } from '../../server/db/database-version.ts'
import type { Database } from '../../server/db/db.ts'
import { pendingMigrations } from '../../server/db/migrate.ts'
import { hasDatabase, openExisting } from '../../server/db/open.ts'
import { requireStoredValues } from '../../server/journal/settings/stored-settings.ts'
import { countText } from '../../server/maintenance/count-text.ts'
import { type DoctorFinding, failed, ok, reasonOf, warning } from './finding.ts'

const mebibyteBytes = 1024 * 1024
const minFreeBytes = 64 * mebibyteBytes
const lowFreeBytes = 1024 * mebibyteBytes
/** Tokens, sessions and samples are judged by this clock; a minute is more than a network delays. */
const maxClockErrorMs = 60_000

export async function checkStorage(options: ServeOptions, now: number): Promise<DoctorFinding[]> {
  const disk = checkDisk(options.dataDir)
  if (!hasDatabase(options)) {
    sensorSettingsOf(sharedValuesOf(givenTexts(options)))
    const message = `There is no database in ${options.dataDir} yet. The first "serve" creates it; if there should be one, check --data-dir.`
    return [warning('database', message), disk, checkClock(now, undefined, undefined)]
  }
  let db: Database
  try {
    db = await openExisting(options)
  } catch (error) {
    return [failed('database', reasonOf(error)), disk, checkClock(now, undefined, undefined)]
  }
  try {
    const { finding, isNew } = await checkDatabase(db, options)
    const secret = isNew ? [] : [await checkSecret(db, options)]
    const settings = isNew ? [] : await checkSettings(db, options)
    const newest = isNew ? undefined : await newestAuditTime(db).catch(() => undefined)
    return [finding, ...secret, ...settings, disk, checkClock(now, await databaseTime(db), newest)]
  } catch (error) {
    return [failed('database', reasonOf(error)), disk]
  } finally {
    await db.close()
  }
}

async function checkDatabase(db: Database, options: ServeOptions): Promise<{ finding: DoctorFinding; isNew: boolean }> {
  const version = await databaseVersion(db)
  const { isNew, pending } = await pendingMigrations(db)
  if (isNew) {
    const message = `${version} is reachable, and there is no Roomkeeper in it yet. The first "serve" creates the tables.`
    return { finding: warning('database', message), isNew }
  }
  const mark = await findCopiedMark(db)
  if (mark) return { finding: failed('database', copiedSentences(options, mark)), isNew }
  const finding =
    pending.length === 0
      ? ok('database', `${version} is reachable, and its tables are those of this version.`)
      : warning(
          'database',
          `${version} is reachable. ${countText(pending.length, 'migration is', 'migrations are')} pending: take a backup, then start "serve".`,
        )
  return { finding, isNew }
}

/** Says something only about options with which "serve" would be refused. */
async function checkSettings(db: Database, options: ServeOptions): Promise<DoctorFinding[]> {
  try {
    await requireStoredValues(db, options)
    return []
  } catch (error) {
    return [failed('settings', reasonOf(error))]
  }
}

async function checkSecret(db: Database, options: ServeOptions): Promise<DoctorFinding> {
  const file = secretKeyFileOf(options)
  try {
    await loadDatabaseSecrets(db, file, options.secretKey)
  } catch (error) {
    return failed('secret key', reasonOf(error))
  }
  if (options.secretKey !== undefined) {
    return ok(
      'secret key',
      `${secretKeyVariable} fits the database. Keep a copy of it apart from backups of the database.`,
    )
  }
  const isOpen = (statSync(file).mode & 0o077) !== 0
  return isOpen
    ? warning('secret key', `${file} fits the database, but other users may read it. Run: chmod 600 ${file}`)
    : ok('secret key', `${file} fits the database. Keep a copy of it apart from backups of the database.`)
}

function checkDisk(dataDir: string): DoctorFinding {
  const folder = existingFolder(dataDir)
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return failed(
      'disk',
      `This user may not write to ${folder} (${code}). Change its owner, or name another folder with --data-dir.`,
    )
  }
  const { bavail, bsize } = statfsSync(folder)
  return judgeFreeSpace(bavail * bsize, dataDir)
}

export function judgeFreeSpace(free: number, dataDir: string): DoctorFinding {
  const text = `${Math.floor(free / mebibyteBytes)} MiB are free for ${dataDir}`
  if (free < minFreeBytes) return failed('disk', `${text}. Writes fail when it is full: free some space.`)
  if (free < lowFreeBytes) return warning('disk', `${text}. Free some space soon.`)
  return ok('disk', `${text}.`)
}

/** The folder itself, or the one in which it would be created. */
function existingFolder(folder: string): string {
  let path = resolve(folder)
  while (!existsSync(path) && dirname(path) !== path) path = dirname(path)
  return path
}

function checkClock(now: number, databaseNow: number | undefined, newestAudit: number | undefined): DoctorFinding {
  const time = new Date(now).toISOString()
  if (newestAudit !== undefined && newestAudit > now + maxClockErrorMs) {
    const newest = new Date(newestAudit).toISOString()
    return failed(
      'clock',
      `It is ${time} here, but the newest audit entry is of ${newest}. Set the clock, for example with NTP.`,
    )
  }
  if (databaseNow !== undefined && Math.abs(databaseNow - now) > maxClockErrorMs) {
    const seconds = Math.round(Math.abs(databaseNow - now) / 1000)
    return failed(
      'clock',
      `This machine and that of PostgreSQL are ${seconds} seconds apart. Set both clocks, for example with NTP.`,
    )
  }
  return ok(
    'clock',
    `It is ${time}. If that is wrong, set the clock: devices refuse certificates that are not valid yet.`,
  )
}

// Restores a backup into an empty place, after every file of it was verified.
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { DatabaseOptions } from '../../config/server-options.ts'
import { secretKeyFileOf } from '../../context/open-services.ts'
import { StartupError } from '../../core/failure.ts'
import { loadSecrets, secretKeyVariable, secretsOfKey } from '../../core/secrets.ts'
import { unknownMigrations } from '../../db/migrate.ts'
import { prepareDataFolder } from '../../db/open.ts'
import { takeServerLock } from '../../db/server-lock.ts'
import { sqliteFileOf } from '../../db/sqlite/sqlite-file.ts'
import { type BackupManifest, bundlesName, databaseNames, readBackupFile, secretName } from './backup-file.ts'
import { hasPostgresTables, restorePostgres } from './postgres-tools.ts'
import { syncPath } from './sync-path.ts'

const engineTitles = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const

/** The target is not changed unless the whole backup is good and fits. An aborted signal ends the work with its reason. */
export async function restoreBackup(
  file: string,
  place: DatabaseOptions,
  signal?: AbortSignal,
): Promise<BackupManifest> {
  try {
    return await restoreUnlessAborted(file, place, signal)
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}

async function restoreUnlessAborted(
  file: string,
  place: DatabaseOptions,
  signal: AbortSignal | undefined,
): Promise<BackupManifest> {
  prepareDataFolder(place.dataDir)
  await using stack = new AsyncDisposableStack()
  stack.defer(await takeServerLock(place))
  await requireEmpty(place)
  const folder = await mkdtemp(join(place.dataDir, 'restore-'))
  stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const manifest = await readBackupFile(file, folder, signal).catch((error) => {
    if (error.code !== 'ENOSPC') throw error
    throw new StartupError(`The disk of ${place.dataDir} is full. Nothing was restored.`)
  })
  refuseForeign(manifest, place)
  requireSecret(folder, place, manifest)
  await requireEmptyBundles(folder, place)
  const database = join(folder, databaseNames[manifest.engine])
  // pg_restore may fail, so it comes before anything is placed; the rename of a SQLite file completes the restore.
  signal?.throwIfAborted()
  if (place.databaseUrl !== undefined) await restorePostgres(place.databaseUrl, database, folder, signal)
  await placeSecret(folder, place)
  await placeBundles(folder, place)
  if (place.databaseUrl === undefined) {
    await syncPath(database)
    await rename(database, sqliteFileOf(place.dataDir))
  }
  await syncPath(place.dataDir)
  return manifest
}

async function requireEmpty({ dataDir, databaseUrl }: DatabaseOptions): Promise<void> {
  if (databaseUrl !== undefined) {
    if (!(await hasPostgresTables(databaseUrl))) return
    throw new StartupError('The PostgreSQL database is not empty: it has tables. Restore into a new database.')
  }
  const file = sqliteFileOf(dataDir)
  // A -wal file of another database would be applied to the restored one.
  const used = [file, `${file}-wal`, `${file}-shm`].find((path) => existsSync(path))
  if (used === undefined) return
  throw new StartupError(
    `The data folder is not empty: there is ${used}. Name another folder with --data-dir, or move the database with its -wal and -shm away.`,
  )
}

function refuseForeign({ engine, migrations }: BackupManifest, { databaseUrl }: DatabaseOptions): void {
  const target = databaseUrl === undefined ? 'sqlite' : 'postgres'
  if (engine !== target) {
    throw new StartupError(
      `The backup is of ${engineTitles[engine]}, and the target is ${engineTitles[target]}. Restore it into ${engineTitles[engine]}, then use "roomkeeper copy".`,
    )
  }
  if (unknownMigrations(migrations).length > 0)
    throw new StartupError('The backup was made by a newer Roomkeeper. Restore it with that version.')
}

/** A key that is there must be the one of the backup; a missing one must be in the backup. */
function requireSecret(folder: string, place: DatabaseOptions, { secretFingerprint }: BackupManifest): void {
  const file = place.secretKey === undefined ? secretKeyFileOf(place) : secretKeyVariable
  const backedUp = join(folder, secretName)
  const isPlaced = place.secretKey !== undefined || existsSync(file)
  if (!isPlaced && !existsSync(backedUp)) {
    throw new StartupError(
      `The secret key is not in the backup. Put it at ${file} first, or name it with --secret-key-file; its fingerprint is ${shortFingerprint(secretFingerprint)}.`,
    )
  }
  const { identity } =
    place.secretKey === undefined ? loadSecrets(isPlaced ? file : backedUp) : secretsOfKey(place.secretKey)
  if (identity === secretFingerprint) return
  throw new StartupError(
    `${file} is not the secret key of the backup: its fingerprint is ${shortFingerprint(identity)}, not ${shortFingerprint(secretFingerprint)}. Put the right one there first.`,
  )
}

async function placeSecret(folder: string, place: DatabaseOptions): Promise<void> {
  const file = secretKeyFileOf(place)
  if (place.secretKey !== undefined || existsSync(file)) return
  await writeFile(file, await readFile(join(folder, secretName)), { mode: 0o600, flag: 'wx', flush: true })
  await syncPath(dirname(file))
}

export const shortFingerprint = (fingerprint: string): string => fingerprint.slice(0, 16)

async function requireEmptyBundles(folder: string, { dataDir }: DatabaseOptions): Promise<void> {
  const target = join(dataDir, bundlesName)
  if (!existsSync(join(folder, bundlesName)) || !existsSync(target) || (await readdir(target)).length === 0) return
  throw new StartupError(`The backup has log bundles, and ${target} is not empty. Move it away first.`)
}

async function placeBundles(folder: string, { dataDir }: DatabaseOptions): Promise<void> {
  const backedUp = join(folder, bundlesName)
  if (!existsSync(backedUp)) return
  for (const entry of await readdir(backedUp, { recursive: true })) await syncPath(join(backedUp, entry))
  await syncPath(backedUp)
  const target = join(dataDir, bundlesName)
  await rm(target, { recursive: true, force: true })
  await rename(backedUp, target)
}

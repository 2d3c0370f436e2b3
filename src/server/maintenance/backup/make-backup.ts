// Makes a backup of a database that may be in use: one file, complete under its name or not there at all. It may block the thread.
import { existsSync } from 'node:fs'
import { copyFile, link, mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import type { DatabaseOptions } from '../../config/server-options.ts'
import { secretKeyFileOf } from '../../context/open-services.ts'
import { StartupError } from '../../core/failure.ts'
import { programVersion } from '../../core/program-files.ts'
import { loadSecrets, secretKeyVariable, secretsOfKey } from '../../core/secrets.ts'
import { sqliteFileOf } from '../../db/sqlite/sqlite-file.ts'
import {
  type BackupEntry,
  type BackupManifest,
  bundlesName,
  databaseNames,
  isBundleName,
  readBackupFile,
  secretName,
  writeBackupFile,
} from './backup-file.ts'
import { dumpPostgres } from './postgres-tools.ts'
import { takeSnapshot } from './sqlite-snapshot.ts'
import { syncPath } from './sync-path.ts'

/** A backup that is not finished is in a folder with this behind its name. */
export const unfinishedSuffix = '.unfinished-'

export interface BackupRequest {
  readonly place: DatabaseOptions
  readonly file: string
  readonly withSecret: boolean
  readonly withBundles: boolean
}

export interface BackupSummary extends BackupManifest {
  readonly file: string
  readonly bytes: number
  readonly bundles: number
}

/** An aborted signal ends the work with the reason of the signal, and leaves nothing. */
export async function makeBackup(request: BackupRequest, signal?: AbortSignal): Promise<BackupSummary> {
  const file = resolve(request.file)
  if (existsSync(file)) throw new StartupError(`There is already a file ${file}. Name another one, or delete it first.`)
  const folder = await makeWorkFolder(file)
  try {
    return await makeBackupIn(folder, file, request, signal)
  } catch (error) {
    signal?.throwIfAborted()
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    throw new StartupError(
      `The disk of ${dirname(file)} is full. No backup was made; a backup needs twice its size while it is made.`,
    )
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** The folder is private (0700) and on the disk of the result, which is then renamed into place. */
async function makeWorkFolder(file: string): Promise<string> {
  try {
    return await mkdtemp(file + unfinishedSuffix)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new StartupError(`Cannot write to the folder ${dirname(file)} (${code}). Create it, or name another one.`)
  }
}

async function makeBackupIn(
  folder: string,
  file: string,
  request: BackupRequest,
  signal?: AbortSignal,
): Promise<BackupSummary> {
  const { place, withSecret, withBundles } = request
  const createdAt = new Date().toISOString()
  const engine = place.databaseUrl === undefined ? 'sqlite' : 'postgres'
  const database = { name: databaseNames[engine], file: join(folder, databaseNames[engine]) }
  const { migrations, secretFingerprint, ...dumped } =
    place.databaseUrl === undefined
      ? { ...takeSnapshot(requireSqliteFile(place), database.file, withBundles), bundles: 0 }
      : await dumpPostgres({ url: place.databaseUrl, file: database.file, folder, withBundles }, signal)
  if (secretFingerprint === undefined)
    throw new StartupError(
      'There is no Roomkeeper in that database, so there is nothing to back up. Check the options.',
    )
  const secret = withSecret
    ? [{ name: secretName, file: await requireSecretFile(place, secretFingerprint, folder) }]
    : []
  const bundles = withBundles ? await holdBundles(await listBundles(join(place.dataDir, bundlesName)), folder) : []
  const manifest = { engine, createdAt, ...programVersion(), migrations, secretFingerprint } as const
  const draft = join(folder, 'backup.tar')
  await writeBackupFile(draft, manifest, [database, ...secret, ...bundles], signal)
  // The disk needs room for one copy beside the draft, so the packed one goes before the draft is unpacked.
  await rm(database.file)
  await rm(join(folder, bundlesName), { recursive: true, force: true })
  await verifyDraft(draft, folder, signal)
  const { size } = await stat(draft)
  signal?.throwIfAborted()
  await rename(draft, file)
  // The new name survives a power cut only after its folder is synced.
  await syncPath(dirname(file))
  return { ...manifest, file, bytes: size, bundles: bundles.length + dumped.bundles }
}

/** Reads the draft as restore would, so that a backup that cannot be restored is never left. */
async function verifyDraft(draft: string, folder: string, signal?: AbortSignal): Promise<void> {
  const unpacked = await mkdtemp(join(folder, 'verify-'))
  await readBackupFile(draft, unpacked, signal).catch((error) => {
    if (error.code === 'ENOSPC') throw error
    throw new StartupError(
      'The backup was damaged while it was written, so none was made. Try again; if it fails again, check the disk.',
    )
  })
  await rm(unpacked, { recursive: true })
}

function requireSqliteFile({ dataDir }: DatabaseOptions): string {
  const file = sqliteFileOf(dataDir)
  if (existsSync(file)) return file
  throw new StartupError(`There is no database in ${dataDir}. Name its folder with --data-dir.`)
}

/** A key that is no file is written into the private work folder. */
async function requireSecretFile(place: DatabaseOptions, fingerprint: string, folder: string): Promise<string> {
  if (place.secretKey !== undefined) {
    if (secretsOfKey(place.secretKey).identity !== fingerprint)
      throw new StartupError(
        `${secretKeyVariable} is not the secret key of this database, so it was not backed up. Give the right one.`,
      )
    const copy = join(folder, secretName)
    await writeFile(copy, `${place.secretKey}\n`, { mode: 0o600 })
    return copy
  }
  const file = secretKeyFileOf(place)
  if (loadSecrets(file).identity === fingerprint) return file
  throw new StartupError(`${file} is not the secret key of this database, so it was not backed up. Name the right one.`)
}

/** Takes complete bundles only: an upload that is under way has another ending. */
async function listBundles(root: string): Promise<BackupEntry[]> {
  const entries = existsSync(root) ? await readdir(root, { recursive: true, withFileTypes: true }) : []
  return entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.part'))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ name: `${bundlesName}/${relative(root, file)}`, file }))
    .filter(({ name }) => isBundleName(name))
}

/** The running server deletes bundles that expire, so the backup is made from links or copies that it cannot delete. */
async function holdBundles(bundles: readonly BackupEntry[], folder: string): Promise<BackupEntry[]> {
  const held: BackupEntry[] = []
  for (const { name, file } of bundles) {
    const target = join(folder, name)
    await mkdir(dirname(target), { recursive: true })
    try {
      // The backup may be on another disk, or on one without hard links.
      await link(file, target).catch(() => copyFile(file, target))
      held.push({ name, file: target })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  return held
}

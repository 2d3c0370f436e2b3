// The backup file: a tar archive of a manifest, the database, and if asked the secret key and log bundles, with checksums at its end.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { readdir, readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { packTar, type TarSource, unpackTar } from 'modern-tar/fs'
import { StartupError } from '../../core/failure.ts'
import type { ProgramVersion } from '../../core/program-files.ts'
import type { EngineName } from '../../db/engine.ts'

/** Raised when an older program could not restore the file. */
const formatNumber = 1
const manifestName = 'manifest.json'
/** In the format of sha256sum. It is the last entry, so a truncated file does not have it. */
const checksumsName = 'checksums.txt'
export const secretName = 'secret.key'
export const bundlesName = 'bundles'
export const databaseNames: Readonly<Record<EngineName, string>> = {
  sqlite: 'roomkeeper.db',
  postgres: 'roomkeeper.dump',
}

/** The version and the commit are those of the program that made the backup. */
export interface BackupManifest extends ProgramVersion {
  readonly engine: EngineName
  readonly createdAt: string
  /** The migrations of the database. */
  readonly migrations: readonly string[]
  /** Identifies the secret key without revealing it. */
  readonly secretFingerprint: string
}

export interface BackupEntry {
  /** The name in the archive. */
  readonly name: string
  readonly file: string
}

export async function writeBackupFile(
  file: string,
  manifest: BackupManifest,
  entries: readonly BackupEntry[],
  signal?: AbortSignal,
): Promise<void> {
  const text = `${JSON.stringify({ format: formatNumber, ...manifest }, null, 2)}\n`
  const sums = [`${createHash('sha256').update(text).digest('hex')}  ${manifestName}`]
  const mode = 0o600
  const sources: TarSource[] = [{ type: 'content', target: manifestName, content: text, mode }]
  for (const entry of entries) {
    sums.push(`${await checksumOf(entry.file, signal)}  ${entry.name}`)
    // A key in a Kubernetes volume is a symbolic link, which would be packed as a link.
    sources.push({ type: 'file', target: entry.name, source: await realpath(entry.file), mode })
  }
  sources.push({ type: 'content', target: checksumsName, content: `${sums.join('\n')}\n`, mode })
  const target = createWriteStream(file, { flags: 'wx', mode, flush: true })
  await pipeline(packTar(sources, { concurrency: 1 }), target, signal ? { signal } : {})
}

/** Unpacks a backup into an empty folder, and verifies every file of it. The error of a full disk is left to the caller. */
export async function readBackupFile(file: string, folder: string, signal?: AbortSignal): Promise<BackupManifest> {
  try {
    const unpack = unpackTar(folder, {
      fmode: 0o600,
      dmode: 0o700,
      concurrency: 1,
      filter: ({ type, name }) => type === 'file' && isKnownName(name),
    })
    await pipeline(createReadStream(file), unpack, signal ? { signal } : {})
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC') throw error
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR')
      throw new StartupError(`Cannot read the backup ${file} (${code}). Name a file that "roomkeeper backup" made.`)
    throw notABackup(file)
  }
  await verifyChecksums(file, folder, signal)
  const { format, ...manifest } = JSON.parse(await readFile(join(folder, manifestName), 'utf8'))
  if (format !== formatNumber)
    throw new StartupError(`The backup ${file} was made by a newer Roomkeeper. Restore it with that version.`)
  return manifest
}

const isKnownName = (name: string): boolean =>
  [manifestName, checksumsName, secretName, ...Object.values(databaseNames)].includes(name) || isBundleName(name)

/** Other files below the folder of bundles, such as .DS_Store, are neither backed up nor restored. */
export const isBundleName = (name: string): boolean => /^bundles\/\d+\/\w+\/[\w.-]+$/.test(name)

/** Every file must have its checksum, and every checksum its file. */
async function verifyChecksums(file: string, folder: string, signal?: AbortSignal): Promise<void> {
  const text = await readFile(join(folder, checksumsName), 'utf8').catch(() => '')
  const expected = new Map(text.split('\n').map((line) => [line.slice(66), line.slice(0, 64)]))
  expected.delete('')
  if (!expected.has(manifestName)) throw notABackup(file)
  const unpacked = await readdir(folder, { recursive: true, withFileTypes: true })
  const present = unpacked.filter((e) => e.isFile() && e.name !== checksumsName)
  for (const entry of present) {
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(folder.length + 1)
    if (expected.get(name) !== (await checksumOf(path, signal))) throw notABackup(file)
    expected.delete(name)
  }
  if (expected.size > 0) throw notABackup(file)
}

const notABackup = (file: string) =>
  new StartupError(
    `${file} is not a backup of Roomkeeper, or it is truncated or damaged. Nothing was restored; use another backup.`,
  )

export async function checksumOf(file: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  for await (const bytes of createReadStream(file, signal ? { signal } : {})) hash.update(bytes)
  return hash.digest('hex')
}

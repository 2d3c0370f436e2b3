// Makes the files in the data folder readable by their owner only, whatever the mode of the folder is.
import { chmodSync, closeSync, openSync, readdirSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { StartupError } from './failure.ts'

const privateFileMode = 0o600
const privateFolderMode = 0o700
const groupAndOthersMode = 0o077

/** SQLite gives its -wal, -shm and -journal files the mode of the database, so this is called before SQLite opens it. */
export function createPrivateFile(file: string): void {
  closeSync(openSync(file, 'a', privateFileMode))
  tighten(file, privateFileMode)
}

/** Files of the data folder with secrets or measurements, and the files that SQLite creates beside a database. */
const privateNames = ['roomkeeper.db', 'server.lock']
  .flatMap((name) => [name, `${name}-wal`, `${name}-shm`, `${name}-journal`])
  .concat('secret.key', 'server.json')

/** Earlier releases, or a restored backup, may have left files that other users can read. */
export function tightenDataFolder(dataDir: string): void {
  for (const name of privateNames) tighten(join(dataDir, name), privateFileMode)
  const bundles = join(dataDir, 'bundles')
  if (!tighten(bundles, privateFolderMode)?.isDirectory()) return
  for (const entry of readdirSync(bundles, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) tighten(join(entry.parentPath, entry.name), privateFolderMode)
    else if (entry.isFile()) tighten(join(entry.parentPath, entry.name), privateFileMode)
  }
}

/** Returns undefined if there is no such file. */
function tighten(path: string, mode: number): Stats | undefined {
  try {
    const stats = statSync(path)
    if ((stats.mode & groupAndOthersMode) !== 0) chmodSync(path, mode)
    return stats
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new StartupError(
      `Cannot make ${path} private to its owner (${code}). Let the user who runs Roomkeeper own it, or name another folder with --data-dir.`,
    )
  }
}

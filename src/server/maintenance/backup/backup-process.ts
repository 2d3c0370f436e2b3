// Makes a backup in a child process, so that a server goes on answering: VACUUM INTO and checksums would block its event loop.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { executableFile } from '../../core/program-files.ts'
import { type BackupRequest, type BackupSummary, makeBackup } from './make-backup.ts'

/** A hidden command of src/cli/program.ts. */
const backupProcessCommand = 'backup-process'

/** The request goes through a pipe, because it may contain the password of the database. */
export async function backupInChild(request: BackupRequest, signal: AbortSignal): Promise<BackupSummary> {
  signal.throwIfAborted()
  // The child has a process group of its own, so that pg_dump can be ended with it.
  const child = spawn(process.execPath, [executableFile, backupProcessCommand], { stdio: 'pipe', detached: true })
  const end = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // The child has ended by itself.
    }
  }
  signal.addEventListener('abort', end, { once: true })
  try {
    const closed = once(child, 'close')
    // A child that ends before it has read the request is noticed by its exit code.
    child.stdin.on('error', () => {}).end(JSON.stringify(request))
    const [output, problem, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed])
    signal.throwIfAborted()
    if (code === 0) return JSON.parse(output)
    throw new Error(problem.trim() || 'the backup process was ended')
  } finally {
    signal.removeEventListener('abort', end)
  }
}

/** The part that runs in the child. */
export async function runBackupProcess(input: NodeJS.ReadableStream): Promise<BackupSummary> {
  return makeBackup(JSON.parse(await text(input)))
}

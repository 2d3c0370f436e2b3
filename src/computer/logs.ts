// Collects the logs of the system for a bug report: the last day of the journal, or the end of syslog.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

const maxLogBytes = 16 * 1024 * 1024
const journalTimeoutMs = 60_000
/** The lines of the last day, times with their zone, and no more than a busy machine writes in that time. */
const journalArguments = ['--since=-24h', '--lines=200000', '--output=short-iso', '--no-pager', '--quiet']
const logFiles = ['var/log/syslog', 'var/log/messages']

/** Throws a sentence if the machine has no logs that this user can read. */
export async function collectLogs(root: string): Promise<Buffer> {
  const text = (await readJournal()) ?? (await readLogFile(root))
  if (text === undefined)
    throw new Error('This computer has no logs that Roomkeeper can read: neither a journal nor /var/log/syslog.')
  return promisify(gzip)(text)
}

/** The newest lines. Undefined if there is no journal, or none that this user can read. */
async function readJournal(): Promise<Buffer | undefined> {
  const child = spawn('journalctl', journalArguments, {
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: journalTimeoutMs,
  })
  const ended = once(child, 'close')
  const chunks: Buffer[] = []
  let bytes = 0
  child.stdout.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    bytes += chunk.length
    while (bytes - (chunks[0]?.length ?? 0) >= maxLogBytes) bytes -= chunks.shift()?.length ?? 0
  })
  const isThere = await ended.then(
    () => true,
    () => false,
  )
  return isThere && bytes > 0 ? newestLines(Buffer.concat(chunks)) : undefined
}

async function readLogFile(root: string): Promise<Buffer | undefined> {
  for (const name of logFiles) {
    const file = await open(join(root, name)).catch(() => undefined)
    if (!file) continue
    try {
      const { size } = await file.stat()
      const length = Math.min(size, maxLogBytes)
      const { buffer } = await file.read({ buffer: Buffer.alloc(length), position: size - length })
      if (length > 0) return buffer
    } finally {
      await file.close()
    }
  }
  return undefined
}

const newestLines = (text: Buffer) => (text.length > maxLogBytes ? text.subarray(text.length - maxLogBytes) : text)

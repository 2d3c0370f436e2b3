// One server per database. Both locks are the operating system's or PostgreSQL's own: a crash frees them.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import pg from 'pg'
import { Refusal } from '../failure.ts'
import type { PlaceOptions } from '../options.ts'
import { createPrivateFile } from '../private-files.ts'
import { checkUrl, unreachable } from './address.ts'

const busy = 'Another Roomkeeper server is running on this database. Stop it first, or give this one its own'

export interface LockWatch {
  /** Somebody else may have the lock now, so the server must stop. */
  onLost(): void
  /** The lock went with its connection and was taken again. */
  onBack(): void
}

/** Takes the lock and gives back what frees it. */
export async function lockServer(place: PlaceOptions, watch: LockWatch): Promise<() => Promise<void>> {
  return place.databaseUrl ? lockPostgres(place.databaseUrl, watch) : lockFile(place.dataDir)
}

function lockFile(dataDir: string): () => Promise<void> {
  const file = join(dataDir, 'server.lock')
  let lock: Database.Database | undefined
  try {
    createPrivateFile(file)
    lock = new Database(file, { timeout: 0 })
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock?.close()
    if (error instanceof Refusal) throw error
    if ((error as { code?: string }).code === 'SQLITE_BUSY') throw new Refusal(`${busy} --data-dir.`)
    throw new Refusal(
      `Cannot use the lock file ${file}: ${(error as Error).message}. Delete it if no server is running.`,
    )
  }
  const held = lock
  return async () => void held.close()
}

const advisoryKey = 0x526f6f6d // "Room"
/** How long a lock that went with its connection, for instance when PostgreSQL restarts, is tried to take again. */
const patience = 30_000

async function lockPostgres(url: string, watch: LockWatch): Promise<() => Promise<void>> {
  checkUrl(url)
  let closing = false
  let held: pg.Client | undefined

  const take = async (): Promise<boolean> => {
    const client = new pg.Client({ connectionString: url, application_name: 'roomkeeper server lock', keepAlive: true })
    client.on('error', () => {})
    await client.connect()
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS mine', [advisoryKey])
    if (!rows[0].mine) {
      await client.end()
      return false
    }
    held = client
    client.once('end', () => void takeAgain())
    return true
  }

  const takeAgain = async () => {
    const deadline = Date.now() + patience
    while (!closing && Date.now() < deadline) {
      const taken = await take().catch(() => undefined)
      if (taken) return watch.onBack()
      if (taken === false) break
      await sleep(200)
    }
    if (!closing) watch.onLost()
  }

  const taken = await take().catch((error) => {
    throw unreachable(error)
  })
  if (!taken) throw new Refusal(`${busy} database.`)
  return async () => {
    closing = true
    await held?.end()
  }
}

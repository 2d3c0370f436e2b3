// Checks that the control session is a session: a pooler that assigns connections per transaction loses notifications and locks.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { StartupError } from '../core/failure.ts'
import { notificationChannel } from './control-session.ts'

const timeoutMs = 5_000

/**
 * Another connection notifies the session while that is idle. A pooler would deliver the notification to whichever client uses
 * the connection that listened.
 */
export async function requireDirectConnection(client: pg.Client, url: string, word: string): Promise<void> {
  const before = await stateOf(client, word)
  const heard = new Promise<boolean>((resolve) => {
    const listener = ({ payload }: pg.Notification) => {
      if (payload !== word) return
      client.off('notification', listener)
      resolve(true)
    }
    client.on('notification', listener)
  })
  await notifyFromAnother(url, word)
  const isHeard = await Promise.race([heard, sleep(timeoutMs, false, { ref: false })])
  const after = await stateOf(client)
  if (isHeard && before.pid === after.pid && after.word === word) return
  throw new StartupError(
    'The connection to PostgreSQL goes through a pooler that assigns connections per transaction, so nodes cannot hear each other. Name the PostgreSQL server itself with --database-url.',
  )
}

/** Sets a session variable if a word is given. */
async function stateOf(client: pg.Client, word?: string): Promise<{ pid: number; word: string | null }> {
  if (word !== undefined) await client.query("SELECT set_config('roomkeeper.word', $1, false)", [word])
  const { rows } = await client.query(
    "SELECT pg_backend_pid() AS pid, current_setting('roomkeeper.word', true) AS word",
  )
  return rows[0]
}

async function notifyFromAnother(url: string, word: string): Promise<void> {
  const other = new pg.Client({ connectionString: url, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs })
  other.on('error', () => {})
  try {
    await other.connect()
    await other.query('SELECT pg_notify($1, $2)', [notificationChannel, word])
  } finally {
    await other.end()
  }
}

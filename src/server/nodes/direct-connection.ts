// Checks that the control session is a session: a pooler that assigns connections per transaction loses notifications and locks.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { StartupError } from '../core/failure.ts'
import type { TimeLimits } from '../core/time-limits.ts'
import { notificationChannel } from './control-session.ts'

interface DirectConnectionOptions {
  readonly url: string
  readonly limits: TimeLimits
}

/**
 * Another connection notifies the session while that is idle. A pooler would deliver the notification to whichever client uses
 * the connection that listened.
 */
export async function requireDirectConnection(
  client: pg.Client,
  options: DirectConnectionOptions,
  token: string,
): Promise<void> {
  await setToken(client, token)
  const before = await readSession(client)
  const heard = new Promise<boolean>((resolve) => {
    const listener = ({ payload }: pg.Notification) => {
      if (payload !== token) return
      client.off('notification', listener)
      resolve(true)
    }
    client.on('notification', listener)
  })
  await notifyFromAnother(options, token)
  const isHeard = await Promise.race([heard, sleep(options.limits.directConnectionMs, false, { ref: false })])
  const after = await readSession(client)
  if (isHeard && before.pid === after.pid && after.token === token) return
  throw new StartupError(
    'The connection to PostgreSQL goes through a pooler that assigns connections per transaction, so nodes cannot hear each other. Name the PostgreSQL server itself with --database-url.',
  )
}

/** The variable belongs to the session: another session does not have it. */
const setToken = (client: pg.Client, token: string) =>
  client.query("SELECT set_config('roomkeeper.token', $1, false)", [token])

async function readSession(client: pg.Client): Promise<{ pid: number; token: string | null }> {
  const { rows } = await client.query(
    "SELECT pg_backend_pid() AS pid, current_setting('roomkeeper.token', true) AS token",
  )
  return rows[0]
}

async function notifyFromAnother({ url, limits }: DirectConnectionOptions, token: string): Promise<void> {
  const timeoutMs = limits.directConnectionMs
  const other = new pg.Client({ connectionString: url, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs })
  other.on('error', () => {})
  try {
    await other.connect()
    await other.query('SELECT pg_notify($1, $2)', [notificationChannel, token])
  } finally {
    await other.end()
  }
}

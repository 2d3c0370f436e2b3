// PgBouncer in front of a PostgreSQL, with a server connection for each transaction.
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { need, programPath } from '../debian.ts'
import { freePort } from '../free-port.ts'
import { until } from '../program.ts'

/** Returns the URL of the database behind the pooler, which ends with the test. */
export async function pooler(databaseUrl: string): Promise<string> {
  need('pgbouncer')
  const { hostname, port, pathname, username, password } = new URL(databaseUrl)
  const ownPort = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-pooler-'))
  chmodSync(folder, 0o755)
  const config = join(folder, 'pgbouncer.ini')
  const users = join(folder, 'users.txt')
  writeFileSync(users, `"${username}" "${password}"\n`)
  writeFileSync(
    config,
    `[databases]
${pathname.slice(1)} = host=${hostname} port=${port} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${ownPort}
unix_socket_dir =
auth_type = plain
auth_file = ${users}
pool_mode = transaction
ignore_startup_parameters = options,statement_timeout
`,
  )
  const isRoot = process.getuid?.() === 0
  // PgBouncer refuses to run as root.
  const child = spawn(programPath('pgbouncer') ?? '', [config, ...(isRoot ? ['-u', 'nobody'] : [])], {
    stdio: 'ignore',
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
    rmSync(folder, { recursive: true, force: true })
  })
  const url = new URL(databaseUrl)
  url.port = String(ownPort)
  await until('the pooler answers', async () => {
    const client = new pg.Client({ connectionString: url.href })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.query('SELECT 1')
      return true
    } catch {
      return false
    } finally {
      await client.end()
    }
  })
  return url.href
}

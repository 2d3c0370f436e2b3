// Runs pg_dump and pg_restore on the database of a URL, without its password on their command lines.
import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { StartupError } from '../../core/failure.ts'
import { checkDatabaseUrl, databaseUnreachable } from '../../db/postgres/database-url.ts'
import { type SnapshotFacts, signInTables } from './sqlite-snapshot.ts'

/** Parameters of the URL that pg_dump understands as the driver does. */
const sharedParameters = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey']

export interface DumpRequest {
  readonly url: string
  readonly file: string
  /** For temporary files. */
  readonly folder: string
  readonly withBundles: boolean
}

/** Writes a dump in the custom format of pg_dump. Sessions and sign-in links are left out. */
export async function dumpPostgres({ url, file, folder, withBundles }: DumpRequest, signal?: AbortSignal) {
  const facts = await withClient(url, async (client) => ({
    ...(await factsOf(client)),
    bundles: withBundles ? await countBundles(client) : 0,
  }))
  const excluded = [...signInTables, ...(withBundles ? [] : ['bundle_uploads', 'bundle_chunks'])]
  const left = excluded.map((table) => `--exclude-table-data=${table}`)
  const options = ['--format=custom', '--no-owner', '--no-privileges', ...left, '--file', file]
  await runTool('pg_dump', url, options, folder, signal)
  return facts
}

/** Loads a dump in one transaction: completely or not at all. */
export async function restorePostgres(url: string, file: string, folder: string, signal?: AbortSignal): Promise<void> {
  const options = ['--no-owner', '--no-privileges', '--exit-on-error', '--single-transaction', file]
  await runTool('pg_restore', url, options, folder, signal)
}

export const hasPostgresTables = (url: string): Promise<boolean> =>
  withClient(url, async (client) => {
    const { rowCount } = await client.query(
      "select 1 from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') limit 1",
    )
    return rowCount !== 0
  })

async function factsOf(client: pg.Client): Promise<SnapshotFacts> {
  const read = async (text: string): Promise<string[]> => (await client.query(text)).rows.map((row) => row.text)
  try {
    const [secretFingerprint] = await read("select value as text from settings where name = 'secret identity'")
    return { migrations: await read('select name as text from migrations order by name'), secretFingerprint }
  } catch (error) {
    if ((error as { code?: string }).code !== '42P01') throw error
    return { migrations: [], secretFingerprint: undefined }
  }
}

/** A database of version 0.1 has no bundles. */
async function countBundles(client: pg.Client): Promise<number> {
  const { rows } = await client.query("select to_regclass('bundle_uploads') is not null as exists")
  if (!rows[0].exists) return 0
  const counted = await client.query(
    'select count(*)::int as count from bug_report_items i join bundle_uploads u on u.org = i.org and u.id = i.upload_id',
  )
  return counted.rows[0].count
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  checkDatabaseUrl(url)
  const client = new pg.Client({ connectionString: url, application_name: 'roomkeeper backup' })
  client.on('error', () => {})
  await client.connect().catch((error) => {
    throw databaseUnreachable(error)
  })
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function runTool(
  tool: 'pg_dump' | 'pg_restore',
  url: string,
  args: readonly string[],
  folder: string,
  signal?: AbortSignal,
): Promise<void> {
  const passwordFile = join(folder, 'pgpass')
  try {
    const connection = await connectionText(url, passwordFile)
    const options = signal ? { signal } : {}
    await promisify(execFile)(tool, ['--dbname', connection, '--no-password', ...args], options)
  } catch (error) {
    const { code, stderr, message } = error as NodeJS.ErrnoException & { stderr?: string }
    if (code === 'ENOENT')
      throw new StartupError(`${tool} was not found. Install it: on Debian, apt-get install postgresql-client.`)
    const reason = (stderr?.trim() || message).replaceAll(/\s*\n\s*/g, ' ').replace(/\.$/, '')
    throw new StartupError(`${reason}. ${tool} must not be older than the PostgreSQL server.`)
  } finally {
    await rm(passwordFile, { force: true })
  }
}

/** The password is in a private file, because every user of the machine can see command lines. */
async function connectionText(url: string, passwordFile: string): Promise<string> {
  const { user, host, port, database, password } = new pg.Client({ connectionString: url })
  if (password) {
    const escaped = password.replaceAll(/[\\:]/g, '\\$&')
    await writeFile(passwordFile, `*:*:*:*:${escaped}\n`, { mode: 0o600 })
  }
  const query = new URLSearchParams(url.split('?')[1] ?? '')
  const given = sharedParameters.map((name) => [name, query.get(name) ?? undefined] as const)
  const parts = [
    ['host', host],
    ['port', String(port)],
    ['user', user],
    ['dbname', database],
    ['passfile', password ? passwordFile : undefined],
    // The driver has a word of its own for TLS without verification.
    ...given.map(([name, value]) => [name, value === 'no-verify' ? 'require' : value] as const),
  ] as const
  return parts
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}='${value.replaceAll(/['\\]/g, '\\$&')}'`]))
    .join(' ')
}

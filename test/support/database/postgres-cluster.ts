// Brings a PostgreSQL for the test run: a private cluster in a temporary folder, gone afterwards.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { canInstall, installDebian, need, postgresClusterSettings } from '../debian.ts'
import { freePort } from '../free-port.ts'
import { folderInMemory } from '../memory-folder.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string
  }
}

let starting: Promise<Cluster> | undefined
let projectCount = 0

/** The projects of a run share the cluster. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_POSTGRES_URL
  if (given) {
    project.provide('postgresUrl', given)
    return async () => {}
  }
  projectCount++
  starting ??= startCluster(notDurable)
  const cluster = await starting
  project.provide('postgresUrl', cluster.url)
  return async () => {
    if (--projectCount === 0) await cluster.stop()
  }
}

const advice =
  'The tests need PostgreSQL: install its server programs (Debian: apt-get install postgresql), or set TEST_POSTGRES_URL to a database that may be filled.'

function findBinaries(): string | undefined {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : []
  const folders = [
    ...versions.sort((a, b) => Number(b) - Number(a)).map((v) => `/usr/lib/postgresql/${v}/bin`),
    ...(process.env.PATH ?? '').split(':'),
    '/opt/homebrew/opt/postgresql/bin',
    '/usr/local/opt/postgresql/bin',
  ]
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
}

/** Debian's package, without the cluster that it would create and start. */
function installBinaries(): string {
  if (!canInstall()) throw new Error(advice)
  // The wrapper package first: it owns the switch that keeps the server package from making a cluster.
  need(postgresClusterSettings)
  const original = readFileSync(postgresClusterSettings)
  try {
    writeFileSync(postgresClusterSettings, 'create_main_cluster = false\n')
    installDebian(advice, ['postgresql'])
  } finally {
    writeFileSync(postgresClusterSettings, original)
  }
  const found = findBinaries()
  if (!found) throw new Error(advice)
  return found
}

/** Returns the folder of PostgreSQL's programs. They are installed if they are missing. */
export const findPostgres = (): string => findBinaries() ?? installBinaries()

export interface Cluster {
  readonly url: string
  /** The folder of PostgreSQL's programs, such as pg_dump. */
  readonly bin: string
  readonly pid: number
  stop(): Promise<void>
}

/**
 * The cluster lives for one test run: it need not survive a power cut. Its databases are small and live for seconds, so no test waits for
 * autovacuum, which would visit each of them. Their statements take milliseconds, less than compiling one to machine code.
 */
const notDurable = {
  fsync: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  jit: 'off',
}

/** A folder with an initialised cluster, and the programs and the user to run it with. */
export interface ClusterFolder {
  readonly bin: string
  readonly folder: string
  readonly data: string
  readonly password: string
  readonly as: { readonly uid: number; readonly gid: number } | undefined
}

/**
 * Creating a database makes about a thousand files, which takes five times as much CPU on a disk as in memory. A durable cluster is
 * on a disk: fsync in memory costs nothing and proves nothing.
 */
export function initialiseCluster({ isDurable }: { isDurable: boolean }): ClusterFolder {
  const bin = findPostgres()
  const folder = mkdtempSync(join(isDurable ? tmpdir() : folderInMemory(), 'roomkeeper-postgres-'))
  const data = join(folder, 'data')
  const as = unprivileged()
  if (as) chownSync(folder, as.uid, as.gid)
  const password = randomBytes(16).toString('hex')
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (as) chownSync(passwordFile, as.uid, as.gid)
  execFileSync(
    join(bin, 'initdb'),
    [
      '-D',
      data,
      '-U',
      'test',
      '--encoding=UTF8',
      '--locale=C',
      '--auth=scram-sha-256',
      `--pwfile=${passwordFile}`,
      '--no-sync',
    ],
    { ...as, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  return { bin, folder, data, password, as }
}

/** Ends PostgreSQL immediately and deletes its folder. */
export function removeCluster({ bin, folder, data, as }: ClusterFolder): void {
  // pg_ctl returns when PostgreSQL has ended. Before that, PostgreSQL could put new files into the folder.
  spawnSync(join(bin, 'pg_ctl'), ['stop', '-s', '-m', 'immediate', '-D', data], { ...as, cwd: folder })
  rmSync(folder, { recursive: true, force: true })
}

/** Starts PostgreSQL in the foreground. `given` are its settings, by their names. */
export function spawnPostgres(
  { bin, folder, data, as }: ClusterFolder,
  port: number,
  given: Readonly<Record<string, string>>,
): ChildProcess {
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: folder,
    // Each server has up to 24, and suites with three servers run side by side.
    max_connections: '400',
    log_min_messages: 'fatal',
    ...given,
  }
  return spawn(
    join(bin, 'postgres'),
    ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { ...as, cwd: folder, stdio: 'ignore' },
  )
}

/** `given` are settings of PostgreSQL, by their names. */
export async function startCluster(given: Readonly<Record<string, string>> = {}): Promise<Cluster> {
  const cluster = initialiseCluster({ isDurable: given.fsync !== 'off' })
  const leave = () => removeCluster(cluster)
  process.once('exit', leave)
  const port = await freePort()
  const server = spawnPostgres(cluster, port, given)
  const url = `postgres://test:${cluster.password}@127.0.0.1:${port}/postgres`
  await untilPostgresReady(server, url)
  return {
    url,
    bin: cluster.bin,
    pid: server.pid ?? 0,
    async stop() {
      const ended = new Promise((resolve) => server.once('exit', resolve))
      server.kill('SIGINT')
      await ended
      process.off('exit', leave)
      rmSync(cluster.folder, { recursive: true, force: true })
    },
  }
}

/** PostgreSQL refuses to run as root. */
function unprivileged(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    const entry = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((line) => line.startsWith(`${name}:`))
      ?.split(':')
    if (entry) return { uid: Number(entry[2]), gid: Number(entry[3]) }
  }
  throw new Error('PostgreSQL does not run as root, and this machine has no user "postgres" or "nobody".')
}

export async function untilPostgresReady(server: ChildProcess, url: string): Promise<void> {
  const deadline = Date.now() + 30_000
  for (;;) {
    const client = new pg.Client({ connectionString: url })
    try {
      await client.connect()
      await client.end()
      return
    } catch (error) {
      if (server.exitCode !== null || Date.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

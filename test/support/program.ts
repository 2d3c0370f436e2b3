// The real program as a child process: started at a place of its own, listened to, ended by its pid.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, renameSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import pg from 'pg'
import { expect, onTestFinished } from 'vitest'
import { sqliteFileOf } from '../../src/server/db/sqlite/sqlite-file.ts'
import { need } from './debian.ts'
import { freePort } from './free-port.ts'
import { type Harness, newPlace } from './harness.ts'
import { isFullForm } from './long-form.ts'
import { type Ended, RunningHere, runHere } from './run-here.ts'

/** test/support/setup/builds.ts puts the program here as it is in a package: a start takes 1.1 s of CPU, of the sources 1.9 s. */
export const testProgramFolder = join(import.meta.dirname, '../../dist/test-program')
const ownBin = join(testProgramFolder, 'bin/roomkeeper.js')
/** Halves the time that a start takes; Node compares the content of a file, so the cache is never stale. */
export const compileCacheFolder = fileURLToPath(new URL('../../node_modules/.cache/roomkeeper-test', import.meta.url))
/** As in the first line of bin/roomkeeper.js: without it a server takes more memory than one that users start. */
const nodeOptions = ['--max-semi-space-size=8']
const defaultTimeoutMs = 60_000
/** Loading the program takes seconds of CPU, which a busy machine shares among many. */
export const startTimeoutMs = 120_000

/** The longer a wait has lasted, the less often it asks: questions every 20 ms took much of the CPU of tests that wait for seconds. */
const pollMs = (waitedMs: number) => Math.min(100, 20 + waitedMs / 20)

/** Polls until the result is truthy; fails after a timeout. */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  { everyMs, timeoutMs = defaultTimeoutMs }: { readonly everyMs?: number; readonly timeoutMs?: number } = {},
) {
  const startedAt = performance.now()
  for (;;) {
    const answer = await ask()
    if (answer) return answer as Exclude<T, null | undefined | false>
    const waitedMs = performance.now() - startedAt
    if (waitedMs > timeoutMs) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`)
    await pause(everyMs ?? pollMs(waitedMs))
  }
}

const living = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

export interface Launch {
  readonly env?: Record<string, string>
  readonly cwd?: string
  /** Arguments for Node itself. */
  readonly node?: readonly string[]
  /** A program with its arguments that starts Node, such as strace. */
  readonly starter?: readonly string[]
  /** The starter gives the program a disk that the tests do not see, so commands on its data need the starter too. */
  readonly hasOwnDisk?: boolean
  /** The program of an installed package; the compiled program of this checkout if absent. */
  readonly bin?: string
}

export class Program {
  stdout = ''
  stderr = ''
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Commands on the data of this program are started with it. */
  readonly diskStarter: readonly string[]
  readonly #child: ChildProcess
  readonly #ended: Promise<Ended>

  constructor(
    args: readonly string[],
    { env = {}, cwd, node = [], starter = [], hasOwnDisk = false, bin = ownBin }: Launch = {},
  ) {
    this.args = args
    this.env = env
    this.diskStarter = hasOwnDisk ? starter : []
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('ROOMKEEPER_'))
    const [command = '', ...first] = [...starter, process.execPath]
    this.#child = spawn(command, [...first, ...nodeOptions, ...node, bin, ...args], {
      cwd,
      // Several servers run at the same time here: none may ask for the usual port of devices. No balancer has to notice that one stops.
      env: {
        ...Object.fromEntries(inherited),
        NODE_COMPILE_CACHE: compileCacheFolder,
        ROOMKEEPER_MQTT_PORT: '0',
        ROOMKEEPER_STOP_DELAY: '0',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    living.add(this.#child)
    this.#child.stdout?.setEncoding('utf8').on('data', (text) => {
      this.stdout += text
    })
    this.#child.stderr?.setEncoding('utf8').on('data', (text) => {
      this.stderr += text
    })
    this.#ended = new Promise((resolve, reject) => {
      this.#child.once('error', reject)
      this.#child.once('close', (code, signal) => {
        living.delete(this.#child)
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr })
      })
    })
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** The first match in what it has written, now or soon. */
  printed(pattern: RegExp, where: 'stdout' | 'stderr' = 'stdout', timeoutMs = defaultTimeoutMs) {
    return untilPrinted(this, pattern, where, timeoutMs)
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** How it ended; a program that does not end is an error. */
  async exit(timeoutMs = defaultTimeoutMs): Promise<Ended> {
    const late = new AbortController()
    const ended = await Promise.race([
      this.#ended,
      pause(timeoutMs, undefined, { signal: late.signal }).catch(() => undefined),
    ])
    late.abort()
    if (ended) return ended
    this.#child.kill('SIGKILL')
    throw new Error(`still running after ${timeoutMs} ms:\n${this.stdout}${this.stderr}`)
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
    this.signal(signal)
    return this.exit()
  }
}

/** The first match in what a program has written, now or soon. */
export function untilPrinted(
  program: Pick<Program, 'stdout' | 'stderr' | 'isRunning'>,
  pattern: RegExp,
  where: 'stdout' | 'stderr' = 'stdout',
  timeoutMs = defaultTimeoutMs,
): Promise<RegExpExecArray> {
  const find = () => {
    const match = pattern.exec(program[where])
    if (!match && !program.isRunning) throw new Error(`ended without ${pattern}:\n${program.stdout}${program.stderr}`)
    return match
  }
  return until(`${pattern} on ${where}`, find, { timeoutMs })
}

/** Gives the program a terminal of its own, on which standard output and standard error are one. */
export function terminalStarter(): string[] {
  need('script')
  return ['sh', '-c', 'exec script --quiet --return --flush --command "$*" /dev/null', 'sh']
}

export interface Server extends Program {
  /** An address without a name to look up. */
  readonly url: string
  /** The address that the server printed. */
  readonly publicUrl: string
  /** The organisation of the first start and a key for it; both are empty on later ones. */
  readonly org: string
  readonly key: string
}

/** A server that may be in the process of the test. */
export type ServerHere = Pick<Server, 'url' | 'publicUrl' | 'org' | 'key'> & { stop(): Promise<Ended> }

const readyLine = /^Roomkeeper is ready at (\S+)$/m
const orgLine = /^ {2}Organisation +(\S+)$/m
/** An address without a name to look up. */
const withoutName = (publicUrl: string) => publicUrl.replace('http://localhost:', 'http://127.0.0.1:')

/** A place for one database, and the programs that a test starts there. */
export class Site {
  readonly dataDir: string
  readonly databaseUrl: string | undefined
  readonly #remove: () => Promise<void>
  readonly #env: Readonly<Record<string, string>>
  readonly #programs: Program[] = []
  readonly #runningHere: RunningHere[] = []
  /** A session that is kept for the next statement: to open one takes PostgreSQL longer than most statements. */
  #session: pg.Pool | undefined

  /** The programs that are started here get the variables. */
  constructor(
    { dataDir, databaseUrl }: Harness['place'],
    remove: () => Promise<void>,
    env: Readonly<Record<string, string>> = {},
  ) {
    this.#env = env
    this.dataDir = dataDir
    this.databaseUrl = databaseUrl
    this.#remove = remove
  }

  get secretKeyFile(): string {
    return join(this.dataDir, 'secret.key')
  }

  /** The options that name this place. */
  get flags(): string[] {
    return ['--data-dir', this.dataDir, ...(this.databaseUrl ? ['--database-url', this.databaseUrl] : [])]
  }

  /** The options as environment variables. */
  get variables(): Record<string, string> {
    return {
      ROOMKEEPER_DATA_DIR: this.dataDir,
      ...(this.databaseUrl && { ROOMKEEPER_DATABASE_URL: this.databaseUrl }),
    }
  }

  /** Starts a program with exactly these arguments; nothing that it makes falls into the checkout. */
  launch(args: readonly string[], launch: Launch = {}): Program {
    const env = { ...this.#env, ...launch.env }
    const program = new Program(args, { cwd: join(this.dataDir, '..'), ...launch, env })
    this.#programs.push(program)
    return program
  }

  /**
   * Runs a command here to its end, in the process of the test: one of its own would take half a second of CPU, most of which Node spends on
   * loading the program. `serve` is for starts that are refused; in `npm run test:full` these have a process of their own.
   */
  run(...args: string[]): Promise<Ended> {
    const [command = '', ...options] = [...args, ...this.flags]
    if (command !== 'serve') return runHere([command, ...options])
    const all = [command, '--mqtt-port', '0', ...options]
    return isFullForm ? this.launch(all).exit() : runHere(all)
  }

  /** Returns the JSON output of a command. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  async json(...args: string[]): Promise<any> {
    const { code, stdout, stderr } = await this.run(...args, '--json')
    expect(stderr).toBe('')
    expect(code).toBe(0)
    return JSON.parse(stdout)
  }

  /** Starts one of several nodes, which need a public address: here each gives its own. */
  async serveNode(name: string): Promise<Server> {
    const port = String(await freePort())
    return this.serve('--node-name', name, '--port', port, '--public-url', `http://127.0.0.1:${port}`)
  }

  /** Starts a server here, on a free port unless told otherwise, and waits until it is ready. */
  serve(...args: string[]): Promise<Server> {
    return ready(this.launch(['serve', '--port', '0', ...this.flags, ...args]))
  }

  /**
   * Starts a server in the process of the test, for tests that are not about its process: such as what is there after the crash of another
   * one, or commands beside it. It does not log. In `npm run test:full` it has a process of its own.
   */
  async serveHere(...args: string[]): Promise<ServerHere> {
    if (isFullForm) return this.serve(...args)
    const ports = ['--port', '0', '--mqtt-port', '0', '--stop-delay', '0']
    const server = new RunningHere(['serve', ...ports, '--log-level', 'silent', ...this.flags, ...args])
    this.#runningHere.push(server)
    const [, publicUrl = ''] = await untilPrinted(server, readyLine)
    const [, org = ''] = orgLine.exec(server.stdout) ?? []
    const key = org === '' ? '' : await createFirstKey({ ...server, args: this.flags, env: {}, diskStarter: [] })
    return { url: withoutName(publicUrl), publicUrl, org, key, stop: () => server.stop() }
  }

  /** Starts a command that runs until it is stopped, in the process of the test. In `npm run test:full` it has a process of its own. */
  launchHere(args: readonly string[]): Pick<Program, 'stdout' | 'stderr' | 'isRunning'> & Pick<RunningHere, 'stop'> {
    if (isFullForm) return this.launch(args)
    const command = new RunningHere(args)
    this.#runningHere.push(command)
    return command
  }

  /** Reads rows directly from the database; several statements only without rows. */
  async sql(statement: string): Promise<Record<string, unknown>[]> {
    if (this.databaseUrl) {
      // A session that a test or a crash of PostgreSQL ended is replaced for the next statement.
      this.#session ??= new pg.Pool({ connectionString: this.databaseUrl, max: 1 }).on('error', () => {})
      return (await this.#session.query(statement)).rows
    }
    const file = new Database(join(this.dataDir, 'roomkeeper.db'), { timeout: 5000 })
    try {
      if (/^select /i.test(statement)) return file.prepare(statement).all() as Record<string, unknown>[]
      file.exec(statement)
      return []
    } finally {
      file.close()
    }
  }

  async close(): Promise<void> {
    for (const command of this.#runningHere) await command.stop()
    for (const program of this.#programs) if (program.isRunning) await program.stop('SIGKILL')
    await this.#session?.end()
    await this.#remove()
  }
}

type Variables = Readonly<Record<string, string>>

/**
 * A site that the caller must close. Its database has its tables already, which saves the migrations at the first start; a test about
 * an empty place asks for none.
 */
export async function newSite(env: Variables = {}, { hasTables = true } = {}): Promise<Site> {
  const { place, remove } = await newPlace({ hasTables })
  const dataDir = join(place.dataDir, 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  if (hasTables && !place.databaseUrl) renameSync(sqliteFileOf(place.dataDir), sqliteFileOf(dataDir))
  return new Site({ ...place, dataDir }, remove, env)
}

function closeAfterTest(site: Site): Site {
  onTestFinished(() => site.close())
  return site
}

/** A site whose database has tables and no rows. It is removed at the end of the test. */
export const siteForTest = async (env: Variables = {}): Promise<Site> => closeAfterTest(await newSite(env))

/** A site whose database does not exist, or is empty on PostgreSQL. It is removed at the end of the test. */
export const emptySiteForTest = async (env: Variables = {}): Promise<Site> =>
  closeAfterTest(await newSite(env, { hasTables: false }))

/** Waits for the greeting and reads it. */
export async function ready(program: Program, timeoutMs = startTimeoutMs): Promise<Server> {
  const [, publicUrl = ''] = await program.printed(readyLine, 'stdout', timeoutMs)
  const org = orgLine.exec(program.stdout)?.[1] ?? ''
  const url = withoutName(publicUrl)
  return Object.assign(program, { url, publicUrl, org, key: org === '' ? '' : await createFirstKey(program) })
}

/** A process has no terminal, so its first start prints the command that creates a key. The command has no password. */
async function createFirstKey(
  program: Pick<Program, 'stdout' | 'stderr' | 'isRunning' | 'args' | 'env' | 'diskStarter'>,
): Promise<string> {
  const [, command = ''] = await untilPrinted(program, printedCommand('keys create'))
  const [, , ...args] = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
  const at = program.args.indexOf('--database-url')
  const database = at < 0 ? [] : program.args.slice(at, at + 2)
  const create = [...args, ...database, '--json']
  const { env, diskStarter } = program
  const done =
    diskStarter.length > 0
      ? await new Program(create, { env, starter: diskStarter }).exit()
      : await runHere(create, env.ROOMKEEPER_SECRET_KEY)
  expectDone(done)
  return JSON.parse(done.stdout).key
}

/** The line of a start that has this command, to be pasted into a shell. */
export const printedCommand = (command: string): RegExp => new RegExp(`^ {2}(\\S.* ${command} .*)\\n`, 'm')

/** A command that did its work says nothing on standard error. */
export function expectDone({ code, stderr }: Ended): void {
  expect(stderr).toBe('')
  expect(code).toBe(0)
}

/** A refusal is one clear sentence on standard error and a non-zero exit, never a stack. */
export function expectRefusal({ code, stdout, stderr }: Ended, sentence: RegExp): void {
  expect(stderr, 'never a stack').not.toMatch(/^ {4}at |unexpected/m)
  expect(stderr).toMatch(sentence)
  expect(stderr.trimEnd().split('\n'), `one line: ${stderr}`).toHaveLength(1)
  expect(stderr.trimEnd(), 'a sentence').toMatch(/\.$/)
  expect(stdout).toBe('')
  expect(code).toBeGreaterThan(0)
}

/** A port of this machine that something else listens on until the test ends. */
export async function takenPort(): Promise<number> {
  // A connection that stayed open would keep the port from closing.
  const other = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  onTestFinished(() => new Promise<void>((resolve) => void other.close(() => resolve())))
  return (other.address() as AddressInfo).port
}

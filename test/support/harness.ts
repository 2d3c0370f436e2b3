// A real service for a test file: real database, real HTTP, a clock that the test can set. Every answer is checked.

import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pino } from 'pino'
import { request } from 'undici'
import { inject } from 'vitest'
import { type Client, makeClient } from '../../src/client/client.ts'
import type { Service, StartSettings } from '../../src/server/app.ts'
import type { Org } from '../../src/server/auth/token-holder.ts'
import type { ServeOptions } from '../../src/server/config/server-options.ts'
import type { RequestContext } from '../../src/server/context/request-context.ts'
import type { Services } from '../../src/server/context/services.ts'
import { builtConsoleFolder } from '../../src/server/core/program-files.ts'
import type { EngineName } from '../../src/server/db/engine.ts'
import { sqliteFileOf } from '../../src/server/db/sqlite/sqlite-file.ts'
import { type ConsoleFiles, readConsoleFiles } from '../../src/server/http/browser/static-files.ts'
import { commandLineActor, orgCreate } from '../../src/server/journal/orgs/rules.ts'
import { keysCreate, type NewKey } from '../../src/server/people/keys/rules.ts'
import { checkEveryAnswer } from './contract/answer-checks.ts'
import { createDatabase, dropDatabase } from './database/postgres-tables.ts'
import { folderInMemory } from './memory-folder.ts'
import { startServices } from './nodes/service-group.ts'

export const engine = process.env.TEST_ENGINE as EngineName
/** With several nodes, each request of a test goes to the next one. */
const nodeCount = Number(process.env.TEST_NODES ?? 1)
/** False in a run against several nodes. Tests of what one node does by itself, such as its rate limits, run only if it is true. */
export const hasOneNode = nodeCount === 1

/** Real time until a test moves it. */
export class TestClock {
  #offset = 0
  #fixed: number | undefined
  now = (): number => this.#fixed ?? Date.now() + this.#offset
  /** Stops the clock, at this time or where it is. */
  fix(at = this.now()): void {
    this.#fixed = at
  }
  /** The clock runs on from where it was stopped. */
  resume(): void {
    this.#offset = this.now() - Date.now()
    this.#fixed = undefined
  }
  advance(ms: number): void {
    if (this.#fixed !== undefined) this.#fixed += ms
    else this.#offset += ms
  }
}

export interface Call {
  /** false sends no token. */
  key?: string | false
  /** Sent as JSON; a string, Buffer or undefined as it is. */
  body?: unknown
  raw?: string | Buffer
  headers?: Record<string, string>
}

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely; their shape is checked by the harness
  readonly body: any
}

export interface TestOrg {
  readonly org: Org
  readonly id: string
  /** Read, Write and manage. */
  readonly key: string
  readonly client: Client
  readonly ctx: RequestContext
  /** Calls `/v1/orgs/<this one>` + path. */
  call(method: string, path: string, call?: Call): Promise<Reply>
  newKey(key: Partial<NewKey>): Promise<string>
  /** The audit entries, newest first. */
  audit(): Promise<Reply['body'][]>
}

export interface Harness {
  readonly url: string
  /** The address that messages and documents name: `http://localhost:PORT` unless a test or several nodes set one. */
  readonly publicUrl: string
  /** The addresses of the nodes behind that one; the address itself if there is one node. */
  readonly nodeUrls: readonly string[]
  readonly mqttPort: number
  /** The services of the first node. */
  readonly services: Services
  readonly clock: TestClock
  /** Log lines that were written, as objects. */
  readonly logged: Record<string, unknown>[]
  readonly place: { dataDir: string; databaseUrl?: string }
  /** Calls any path; checks what holds for every answer. */
  call(method: string, path: string, call?: Call): Promise<Reply>
  newOrg(name?: string): Promise<TestOrg>
  /** Ends the service; its database stays until `close`. */
  stop(): Promise<void>
  close(): Promise<void>
}

export const quiet: Pick<
  ServeOptions,
  | 'host'
  | 'port'
  | 'mqttPort'
  | 'mqttHost'
  | 'mqttTlsPort'
  | 'healthPort'
  | 'healthHost'
  | 'rateLimit'
  | 'authFailureLimit'
  | 'logLevel'
  | 'logRequests'
> = {
  host: '127.0.0.1',
  port: 0,
  mqttPort: 0,
  mqttHost: '127.0.0.1',
  mqttTlsPort: 'off',
  healthPort: 'off',
  healthHost: '127.0.0.1',
  rateLimit: 0,
  authFailureLimit: 0,
  logLevel: 'info',
  logRequests: 'writes',
}

/** An empty database on the engine of this run; with tables already if the test is not about creating them. */
export async function newPlace({
  hasTables = false,
} = {}): Promise<{ place: Harness['place']; remove: () => Promise<void> }> {
  const newFolder = () => mkdtempSync(join(folderInMemory(), 'roomkeeper-test-'))
  const removeFolder = (folder: string) => rmSync(folder, { recursive: true, force: true })
  if (engine === 'sqlite') {
    const dataDir = newFolder()
    if (hasTables) copyFileSync(inject('sqliteTables'), sqliteFileOf(dataDir))
    return { place: { dataDir }, remove: async () => removeFolder(dataDir) }
  }
  const server = inject('postgresUrl')
  const { name, databaseUrl } = await createDatabase(server, hasTables ? inject('postgresTables') : undefined)
  const dataDir = newFolder()
  return {
    place: { dataDir, databaseUrl },
    remove: async () => {
      removeFolder(dataDir)
      await dropDatabase(server, name)
    },
  }
}

/** For tests that wait for scheduled tasks, such as the engine of jobs: the pauses between runs are a fifth of the usual ones. */
export const quickTasks = { taskPauseShare: 0.2 }

let readFiles: ConsoleFiles | undefined
/** Reads the built console once for all services of a worker: reading 3 MB takes a fifth of a start. */
export const builtConsole = (): ConsoleFiles => {
  readFiles ??= readConsoleFiles(builtConsoleFolder)
  return readFiles
}

export interface HarnessSettings extends Pick<StartSettings, 'taskPauseShare' | 'limits'> {
  readonly nodes?: number
}

export async function startHarness(
  options: Partial<ServeOptions> = {},
  { nodes = nodeCount, ...settings }: HarnessSettings = {},
): Promise<Harness> {
  const { place, remove } = await newPlace({ hasTables: true })
  const clock = new TestClock()
  const logged: Record<string, unknown>[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line)) })
  const clocks = Array.from({ length: nodes - 1 }, () => clock)
  // The receivers of tests listen there, and channels reach loopback only if the operator names it.
  const outboundAllow = ['127.0.0.1']
  const group = await startServices({ ...quiet, outboundAllow, ...place, ...options }, log, [clock, ...clocks], {
    ...settings,
    consoleFiles: builtConsole(),
  }).catch(async (error) => {
    await remove()
    throw error
  })
  const { url, mqttPort } = group
  const { services } = group.members[0] as Service
  const call = (method: string, path: string, given: Call = {}) => send(group.nextUrl(), method, path, given)
  return {
    url,
    publicUrl: services.publicUrl(),
    nodeUrls: group.members.map((member) => member.url),
    mqttPort,
    services,
    clock,
    logged,
    place,
    call,
    async newOrg(name = 'Test organisation') {
      const actor = { type: 'SYSTEM', id: 'test', name: 'Test' } as const
      const org = await orgCreate(services, actor, name)
      const ctx = await commandLineActor(services, actor, org.id)
      const newKey = async (key: Partial<NewKey>) =>
        (await keysCreate(ctx, { name: 'Test key', scopes: ['read', 'write'], ...key })).body.key
      const key = await newKey({ manage: true })
      const inOrg = (method: string, path: string, given: Call = {}) =>
        call(method, `/v1/orgs/${org.id}${path}`, { key, ...given })
      return {
        org,
        id: org.id,
        key,
        ctx,
        newKey,
        client: makeClient({
          baseUrl: url,
          org: org.id,
          token: key,
          fetch: (input, init) => fetch(String(input).replace(url, group.nextUrl()), init),
        }),
        call: inOrg,
        audit: async () =>
          (await inOrg('GET', '/audit/logs?from=1970-01-01T00:00:00Z&to=9999-01-01T00:00:00Z&pageSize=1000')).body.logs,
      }
    },
    stop: () => group.close(),
    async close() {
      await group.close()
      await remove()
    },
  }
}

/** One request to a service anywhere; what holds for every answer is checked. A request of undici takes half the CPU of fetch. */
export async function send(
  url: string,
  method: string,
  path: string,
  { key, body, raw, headers }: Call = {},
): Promise<Reply> {
  const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await request(url + path, {
    method: method as 'GET',
    headers: {
      accept: 'application/json',
      ...(key && { authorization: `Bearer ${key}` }),
      ...(sent !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(sent !== undefined && { body: sent }),
  })
  const type = response.headers['content-type']
  const text = type === 'text/event-stream' ? await firstPiece(response.body) : await response.body.text()
  const reply = {
    status: response.statusCode,
    headers: headersOf(response.headers),
    text,
    body: type === 'application/json' && text ? JSON.parse(text) : undefined,
  }
  checkEveryAnswer(method, path, reply)
  return reply
}

function headersOf(received: IncomingHttpHeaders): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(received)) {
    for (const value of [values ?? []].flat()) headers.append(name, value)
  }
  return headers
}

/** The schema of one event in an answer that does not end. */
async function firstPiece(body: Readable): Promise<string> {
  for await (const piece of body) return String(piece)
  return ''
}

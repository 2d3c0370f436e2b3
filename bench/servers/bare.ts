// Starts the bare implementations of `bare/` that listen for HTTP, each in a process of its own.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ClientAnswer } from '../load/http-client.ts'
import type { BenchOptions } from '../options.ts'
import { Subprocess } from './subprocess.ts'

/** A process that listens for HTTP requests. */
export interface ComparedServer {
  readonly name: string
  readonly process: Subprocess
  readonly url: string
}

type BareOptions = Pick<BenchOptions, 'cleanup' | 'profiles'>

/** Starts node:http that sends these answers in turn, headers included, whatever the request is. */
export async function startBareHttp(
  options: BareOptions,
  answers: readonly ClientAnswer[],
  { name = 'bare node:http', status = 200 } = {},
): Promise<ComparedServer> {
  const file = join(options.cleanup.tempFolder(), 'answers')
  writeFileSync(file, answers.map(({ headers, bytes }) => JSON.stringify([headers, `${bytes}`])).join('\n'))
  return startBare(options, name, ['http.ts', `${status}`, file])
}

/** Starts a program of `bare/` that prints the port on which it listens. */
export async function startBare(
  { cleanup, profiles }: BareOptions,
  name: string,
  [file, ...args]: readonly [string, ...string[]],
): Promise<ComparedServer> {
  const path = fileURLToPath(new URL(`../bare/${file}`, import.meta.url))
  const subprocess = new Subprocess(name, [...profiles.nodeFlags(name), path, ...args])
  cleanup.add(() => subprocess.stop())
  const [, port] = await subprocess.waitForOutput(/listening on (\d+)/)
  return { name, process: subprocess, url: `http://127.0.0.1:${port}` }
}

// Sides of a bench that are asked over HTTP: somebody who sends to each, and node:http with the same bytes as their limit.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BenchOptions } from '../bench.ts'
import type { Ending } from '../cleanup.ts'
import type { Answer } from '../load/http-client.ts'
import { HttpLoad, type Request } from '../load/http-load.ts'
import { Child } from '../servers/subprocess.ts'
import type { Side } from './comparison.ts'

/** Something that answers. */
export interface Target {
  readonly name: string
  readonly child: Child
  readonly url: string
}

export interface Asked {
  readonly request: Request
  readonly status?: number
  readonly connections?: number
  /** Requests before anything is measured, so that what runs often is compiled. */
  readonly warmUp: number
}

/** Its connections stay open from round to round. */
export async function httpSide(
  ending: Ending,
  { name, child, url }: Target,
  { request, status = 200, connections = 10, warmUp }: Asked,
): Promise<Side> {
  const load = await HttpLoad.connect(url, connections)
  ending.add(() => load.close())
  await load.send(warmUp, request, status)
  return { name, child, send: (count) => load.send(count, request, status) }
}

/** node:http that sends these answers in turns, with their headers, whatever it is asked. */
export async function bareHttp(
  { ending, profiles }: BenchOptions,
  answers: readonly Answer[],
  { name = 'bare node:http', status = 200 } = {},
): Promise<Target> {
  const file = join(ending.folder(), 'answers')
  writeFileSync(file, answers.map(({ headers, bytes }) => JSON.stringify([headers, `${bytes}`])).join('\n'))
  return bareChild({ ending, profiles }, name, ['http.ts', `${status}`, file])
}

/** A limit of `bare/` that says on which port it listens. */
export async function bareChild(
  { ending, profiles }: Pick<BenchOptions, 'ending' | 'profiles'>,
  name: string,
  [file, ...args]: readonly [string, ...string[]],
): Promise<Target> {
  const path = fileURLToPath(new URL(`../bare/${file}`, import.meta.url))
  const child = new Child(name, [...profiles.flags(name), path, ...args])
  ending.add(() => child.stop())
  const [, port] = await child.printed(/listening on (\d+)/)
  return { name, child, url: `http://127.0.0.1:${port}` }
}

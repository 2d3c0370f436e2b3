// What somebody might use instead, from npm: kept in the temporary folder for the next run, never a dependency.
import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Ending } from '../cleanup.ts'
import { HttpLoad } from '../load/http-load.ts'
import type { Side } from '../measure/comparison.ts'
import type { Asked, Target } from '../measure/http-comparison.ts'
import { freePort } from './roomkeeper.ts'
import { Child } from './subprocess.ts'

const folder = join(tmpdir(), `roomkeeper-bench-peers-${userInfo().uid}`)
const done = join(folder, 'installed')
const packages = ['@stoplight/prism-cli@5', 'json-server@0.17']
const document = fileURLToPath(new URL('../../openapi.json', import.meta.url))

const patience = { install: 120_000, start: 30_000 }

/** Says so in one line where there is no npm, no network, or no answer. */
export async function withPeers<T>(start: () => Promise<T>): Promise<T | undefined> {
  try {
    await install()
    return await start()
  } catch (error) {
    const [why = ''] = (error as Error).message.split('\n')
    process.stdout.write(`Without those that somebody might use instead (${packages.join(', ')}): ${why}\n`)
    return undefined
  }
}

async function install(): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // Whoever else may write there could have put anything there.
  if (lstatSync(folder).uid !== userInfo().uid) throw new Error(`${folder} belongs to somebody else. Remove it.`)
  if (existsSync(done)) return
  const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder]
  const npm = new Child('npm', ['install', ...flags, ...packages], 'npm')
  const timer = setTimeout(() => npm.stop(), patience.install)
  try {
    await npm.output()
  } catch {
    throw new Error('npm could not install them.')
  } finally {
    clearTimeout(timer)
  }
  writeFileSync(done, '')
}

/** A mock server that answers with the examples of our own OpenAPI document. */
export const startPrism = (ending: Ending): Promise<Target> =>
  startPeer(ending, '@stoplight/prism-cli', 'dist/index.js', (port) => [
    ...['mock', document, '--host', '127.0.0.1', '--port', `${port}`, '--verboseLevel', 'silent'],
  ])

/** A REST server on a JSON file, which it keeps in memory and writes anew, but not durably, with every change. */
export function startJsonServer(ending: Ending, content: Readonly<Record<string, unknown[]>>): Promise<Target> {
  const file = join(ending.folder(), 'db.json')
  writeFileSync(file, JSON.stringify(content))
  return startPeer(ending, 'json-server', 'lib/cli/bin.js', (port) => [
    ...[file, '--host', '127.0.0.1', '--port', `${port}`, '--quiet'],
  ])
}

async function startPeer(
  ending: Ending,
  name: string,
  main: string,
  args: (port: number) => string[],
): Promise<Target> {
  const home = join(folder, 'node_modules', name)
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
  const port = await freePort()
  const child = new Child(name, [join(home, main), ...args(port)])
  ending.add(() => child.stop())
  const url = `http://127.0.0.1:${port}`
  const deadline = performance.now() + patience.start
  // What it prints is for people.
  while (!(await fetch(url).then(isAnswer, () => false))) {
    if (performance.now() > deadline) throw new Error(`${name} does not answer.`)
    await pause(50)
  }
  return { name: `${name} ${version}`, child, url }
}

const isAnswer = async (response: Response) => (await response.arrayBuffer()).byteLength >= 0

/** It ends connections that wait for five seconds, so that each turn has connections of its own. */
export async function peerSide(
  { name, child, url }: Target,
  { request, status = 200, connections = 10, warmUp, share }: Asked & { readonly share: number },
): Promise<Side> {
  const send = async (count: number) => {
    const load = await HttpLoad.connect(url, connections)
    try {
      return await load.send(count, request, status)
    } finally {
      load.close()
    }
  }
  await send(warmUp)
  return { name, child, share, send }
}

// Peers from npm: servers that can do part of the same work. They stay in the temporary folder and are never dependencies.
import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Cleanup } from '../cleanup.ts'
import type { ComparedServer } from './bare.ts'
import { findFreePort } from './roomkeeper.ts'
import { Subprocess } from './subprocess.ts'

const folder = join(tmpdir(), `roomkeeper-bench-peers-${userInfo().uid}`)
const installedMarker = join(folder, 'installed')
const packages = ['@stoplight/prism-cli@5', 'json-server@0.17']
const openApiDocument = fileURLToPath(new URL('../../openapi.json', import.meta.url))

const installTimeoutMs = 120_000
const startTimeoutMs = 30_000
const startPollMs = 50

/** Prints one line and returns undefined where npm, the network or a peer is not available. */
export async function withPeers<T>(start: () => Promise<T>): Promise<T | undefined> {
  try {
    await install()
    return await start()
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n')
    process.stdout.write(`The peers ${packages.join(', ')} are left out: ${reason}\n`)
    return undefined
  }
}

async function install(): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // Another user who owns the folder could have put any program into it.
  if (lstatSync(folder).uid !== userInfo().uid) throw new Error(`${folder} belongs to another user. Remove it.`)
  if (existsSync(installedMarker)) return
  const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder]
  const npm = new Subprocess('npm', ['install', ...flags, ...packages], 'npm')
  const timer = setTimeout(() => npm.stop(), installTimeoutMs)
  try {
    await npm.waitForExit()
  } catch {
    throw new Error('npm could not install them.')
  } finally {
    clearTimeout(timer)
  }
  writeFileSync(installedMarker, '')
}

/** Starts a mock server that answers with the examples of our own OpenAPI document. */
export const startPrism = (cleanup: Cleanup): Promise<ComparedServer> =>
  startPeer(cleanup, '@stoplight/prism-cli', 'dist/index.js', (port) => [
    ...['mock', openApiDocument, '--host', '127.0.0.1', '--port', `${port}`, '--verboseLevel', 'silent'],
  ])

/** Starts a REST server on a JSON file. Every change rewrites the file, without waiting for the disk. */
export function startJsonServer(
  cleanup: Cleanup,
  content: Readonly<Record<string, unknown[]>>,
): Promise<ComparedServer> {
  const file = join(cleanup.tempFolder(), 'db.json')
  writeFileSync(file, JSON.stringify(content))
  return startPeer(cleanup, 'json-server', 'lib/cli/bin.js', (port) => [
    ...[file, '--host', '127.0.0.1', '--port', `${port}`, '--quiet'],
  ])
}

async function startPeer(
  cleanup: Cleanup,
  name: string,
  main: string,
  args: (port: number) => string[],
): Promise<ComparedServer> {
  const packageFolder = join(folder, 'node_modules', name)
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'))
  const port = await findFreePort()
  const subprocess = new Subprocess(name, [join(packageFolder, main), ...args(port)])
  cleanup.add(() => subprocess.stop())
  const url = `http://127.0.0.1:${port}`
  const deadline = performance.now() + startTimeoutMs
  // Their output has no stable line that says that they are ready, so they are asked until they answer.
  while (!(await fetch(url).then(hasBody, () => false))) {
    if (performance.now() > deadline) throw new Error(`${name} does not answer.`)
    await sleep(startPollMs)
  }
  return { name: `${name} ${version}`, process: subprocess, url }
}

const hasBody = async (response: Response) => (await response.arrayBuffer()).byteLength >= 0

// Starts our server as a process of its own on a data folder; rate limits are on, but too high to be reached.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { devicePaths, type EnrolAnswer } from '../../src/contract/device/protocol.ts'
import type { Cleanup } from '../cleanup.ts'
import { HttpClient } from '../load/http-client.ts'
import type { BenchDevice } from '../load/mqtt-frames.ts'
import { Subprocess } from './subprocess.ts'

export const executable = fileURLToPath(new URL('../../bin/roomkeeper.js', import.meta.url))
/** The options that the first line of the program gives to Node. */
const programFlags = /^#!.* node (.*)/.exec(readFileSync(executable, 'utf8'))?.[1]?.split(' ') ?? []
const rateLimits = ['--rate-limit', '1000000', '--rate-burst', '10000000', '--auth-failure-limit', '1000000']

export interface MeasuredServer {
  readonly process: Subprocess
  readonly url: string
  readonly mqttPort: number
  /** The id of the organisation that the first start creates; empty on later starts, as is `key`. */
  readonly org: string
  readonly key: string
}

/** `nodeFlags` are further options of Node, `options` those of `roomkeeper serve`. */
export async function startServer(
  dataDir: string,
  nodeFlags: readonly string[] = [],
  options: readonly string[] = [],
): Promise<MeasuredServer> {
  const mqttPort = await findFreePort()
  const args = ['serve', '--port', '0', '--mqtt-port', `${mqttPort}`, '--data-dir', dataDir, ...rateLimits, ...options]
  const subprocess = new Subprocess('The server', [...programFlags, ...nodeFlags, executable, ...args])
  try {
    const [text, publicUrl = ''] = await subprocess.waitForOutput(/ready at (http\S+)[\s\S]*\/docs/)
    // A name would be looked up for each connection.
    const url = publicUrl.replace('http://localhost:', 'http://127.0.0.1:')
    const [, org = ''] = /Organisation\s+(\S+)/.exec(text) ?? []
    const key = org === '' ? '' : await createFirstKey(subprocess, options)
    return { process: subprocess, url, mqttPort, org, key }
  } catch (error) {
    await subprocess.stop()
    throw error
  }
}

/** Runs the command that the first start prints. The command lacks an address of PostgreSQL that has a password. */
async function createFirstKey(subprocess: Subprocess, options: readonly string[]): Promise<string> {
  const [, command = ''] = await subprocess.waitForOutput(/^ {2}(.+ keys create .+)\n/m)
  const at = options.indexOf('--database-url')
  const database = at < 0 ? '' : ` --database-url '${options[at + 1]}'`
  const { stdout } = await promisify(execFile)('sh', ['-c', `${command} --json${database}`])
  return JSON.parse(stdout).key
}

/** A data folder on which a server was started before, with the credentials of its devices. */
export interface DataFolder {
  readonly dataDir: string
  readonly org: string
  readonly key: string
  readonly devices: readonly BenchDevice[]
}

/** Starts a server on such a folder and stops it at cleanup. */
export async function startServerOn(
  cleanup: Cleanup,
  { dataDir, org, key }: DataFolder,
  nodeFlags: readonly string[] = [],
): Promise<MeasuredServer> {
  const server = await startServer(dataDir, nodeFlags)
  cleanup.add(() => server.process.stop())
  return { ...server, org, key }
}

export async function findFreePort(): Promise<number> {
  const server = createServer().listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Creates a room and enrols devices with its enrolment code over HTTP. */
export async function enrolDevices(
  { url, org, key }: MeasuredServer,
  count: number,
  model = 'NF19B1',
): Promise<BenchDevice[]> {
  const http = new HttpClient(url)
  try {
    const room = await http.json('POST', `/v1/orgs/${org}/rooms`, { key, body: { name: 'Bench' } })
    const { dec } = await http.json('GET', `/v1/orgs/${org}/rooms/${room.id}`, { key })
    const devices: BenchDevice[] = []
    for (let i = 0; i < count; i++) {
      const body = { code: dec, serial: `BENCH${i}`, model }
      const { endpointId, credential }: EnrolAnswer = await http.json('POST', devicePaths.enrol, { body })
      devices.push({ id: endpointId, credential })
    }
    return devices
  } finally {
    http.close()
  }
}

// Our server as a process of its own, on a folder of its own; limits are on, but too high to bite.
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { devicePaths, type EnrolAnswer } from '../../src/contract/device.ts'
import { HttpClient } from '../load/http-client.ts'
import type { Identity } from '../load/mqtt-load.ts'
import { Child } from './subprocess.ts'

const bin = fileURLToPath(new URL('../../bin/roomkeeper.js', import.meta.url))
const limits = ['--rate-limit', '1000000', '--rate-burst', '10000000', '--auth-failure-limit', '1000000']

export interface Server {
  readonly child: Child
  readonly url: string
  readonly mqttPort: number
  /** Of the organisation that a first start makes; empty on later ones. */
  readonly org: string
  readonly key: string
}

/** `node` are flags for Node itself, `options` more of our own. */
export async function startServer(
  dataDir: string,
  node: readonly string[] = [],
  options: readonly string[] = [],
): Promise<Server> {
  const mqttPort = await freePort()
  const args = ['serve', '--port', '0', '--mqtt-port', `${mqttPort}`, '--data-dir', dataDir, ...limits, ...options]
  const child = new Child('the server', [...node, bin, ...args])
  try {
    const [text, url = ''] = await child.printed(/ready at (http\S+)[\s\S]*\/docs/)
    const [, org = ''] = /Organisation\s+(\S+)/.exec(text) ?? []
    const [, key = ''] = /Key\s+(\S+)/.exec(text) ?? []
    return { child, url, mqttPort, org, key }
  } catch (error) {
    await child.stop()
    throw error
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Makes a room and enrols devices with its code, as hardware would. */
export async function enrolDevices({ url, org, key }: Server, count: number, model = 'NF19B1'): Promise<Identity[]> {
  const http = new HttpClient(url)
  try {
    const room = await http.json('POST', `/v1/orgs/${org}/rooms`, { key, body: { name: 'Bench' } })
    const { dec } = await http.json('GET', `/v1/orgs/${org}/rooms/${room.id}`, { key })
    const devices: Identity[] = []
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

// Plays Neat Pulse with many devices, each in a room of its own, and answers at /requests when each path was requested.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { deviceId, numbers } from './large-upstream-ids.ts'

const ids = numbers(Number(process.argv[2])).map(deviceId)
const requests: { path: string; atMs: number }[] = []
const device = (id: string, i: number) => ({
  id,
  serial: `NB-SIZE-${i}`,
  model: 'NF19B1',
  connected: true,
  roomId: i + 1,
  roomName: `Room ${i}`,
  inCallStatus: 'NONE',
})
const details = (i: number) => ({
  ...device(ids[i] ?? '', i),
  networks: [{ type: 'NETWORK_TYPE_ETHERNET', linkUp: true, addresses: [], gateway: [] }],
  firmwareVersion: 'NFB1.20260401.0001',
  freeSystemStorage: '12000000000',
})
const sample = { co2: 500, humidity: 40, illumination: 300, people: 2, temp: 21.5, voc: 300, vocIndex: 0 }

function answerTo(path: string): unknown {
  const seconds = Math.floor(Date.now() / 60_000) * 60
  if (path === '/endpoints') return { endpoints: ids.map(device) }
  if (path === '/endpoints/sensor')
    return { data: ids.map((id) => ({ id, endpointData: { data: [{ ...sample, timestamp: String(seconds) }] } })) }
  if (path === '/rooms') return { rooms: ids.map((_, i) => ({ id: i + 1, name: `Room ${i}` })) }
  if (path.endsWith('/config')) return { brightness: 0.5, nightMode: true, timezone: 'Europe/Oslo' }
  const [, kind = '', id = ''] = path.split('/')
  if (kind === 'endpoints') return details(ids.indexOf(id))
  if (kind === 'rooms') return { id: Number(id), endpoints: [details(Number(id) - 1)] }
  return { [kind]: [] }
}

const server = createServer(({ url = '' }, response) => {
  const path = url.replace(/^.*\/orgs\/[^/]+/, '')
  response.setHeader('content-type', 'application/json')
  if (url === '/requests') return void response.end(JSON.stringify(requests))
  requests.push({ path, atMs: Date.now() })
  response.end(JSON.stringify(answerTo(path)))
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))

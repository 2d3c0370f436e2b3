// Tests that the largest reports and answers about sources do not block the event loop for long. [contract 15.sources]
import { Agent } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { devicePaths } from '../../src/contract/device/protocol.ts'
import { structureParts } from '../../src/contract/fleet/source-structure.ts'
import {
  maxLinksPerRequest,
  maxProfilesPerPart,
  maxSourceDevices,
  maxThingsPerPart,
} from '../../src/contract/fleet/sources.ts'
import { newSourceSite, type SourceSite } from '../support/devices/source-site.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { expectShortTurns, printLongestTurn } from '../support/longest-turn.ts'
import { sendRawJson } from '../support/raw-http.ts'

let harness: Harness
let site: SourceSite
let asGateway: Record<string, string>
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

const device = (i: number, messageLength: number) => ({
  key: `device-${i}`,
  name: `Sensor ${i}`,
  manufacturer: 'Milesight',
  model: 'AM307',
  serial: `AM${i}`,
  theirRoomId: String(i),
  sensors: ['temp', 'humidity', 'co2'],
  values: { temp: 21.5, humidity: 41, co2: 612 },
  measuredAt: '2026-05-04T08:15:30.000Z',
  topic: `application/1/device/${i}/event/up`,
  format: 'chirpstack',
  lastMessage: `{"a":"${'"'.repeat(messageLength / 2)}"}`.slice(0, 4096),
  notUnderstood: ['The value of battery is not a number.'],
})
const sourcePath = () => `${devicePaths.gatewaySources}/${site.source}`

async function send(method: string, url: string, body: unknown, headers: Record<string, string>): Promise<void> {
  const sent = body instanceof Buffer ? body : Buffer.from(body === undefined ? '' : JSON.stringify(body))
  expect(await sendRawJson(agent, method, url, sent, headers)).toBe(200)
}
const report = (method: string, path: string, body: unknown) =>
  send(method, `${harness.url}${sourcePath()}/${path}`, body, asGateway)
const call = (method: string, path: string, body?: unknown, headers = {}) =>
  send(method, `${harness.url}/v1/orgs/${site.id}/sources/${site.source}${path}`, body, {
    authorization: `Bearer ${site.key}`,
    ...headers,
  })

beforeAll(async () => {
  harness = await startHarness()
  site = await newSourceSite(harness)
  asGateway = { authorization: `Basic ${btoa(`${site.gateway.id}:${site.gateway.device.credential}`)}` }
  const things = numbers(maxSourceDevices).map((i) => ({ id: String(i), name: `Thing ${i} ${'x'.repeat(100)}` }))
  const structure = { regions: things, locations: things, rooms: things, profiles: things }
  for (const part of structureParts({ revision: 1, ...structure }, '2026-05-04T08:15:30.000Z')) {
    await report('PUT', 'structure', part)
  }
  for (let i = 0; i < maxSourceDevices; i += 200) {
    await report('POST', 'devices', { revision: 1, devices: numbers(200).map((j) => device(i + j, 100)) })
  }
})
afterAll(async () => {
  printLongestTurn('of the largest reports and answers about sources')
  agent.destroy()
  await harness.close()
})

test('a report of 200 devices with their last messages', async () => {
  const body = Buffer.from(JSON.stringify({ revision: 1, devices: numbers(200).map((i) => device(i, 4096)) }))
  await expectShortTurns('200 devices', () => report('POST', 'devices', body))
})

test('the largest parts of a structure', async () => {
  const part = { revision: 1, readAt: '2027-05-04T08:15:30.000Z', isLast: false }
  const room = (i: number) => ({ id: String(i), name: 'x'.repeat(255), locationId: '4', profileId: '2', capacity: 8 })
  const rooms = Buffer.from(JSON.stringify({ ...part, rooms: numbers(maxThingsPerPart).map(room) }))
  await expectShortTurns('500 rooms', () => report('PUT', 'structure', rooms))
  const config = Object.fromEntries(numbers(100).map((i) => [`key${i}`, 'x'.repeat(100)]))
  const profile = (i: number) => ({ id: String(i), name: 'Quiet', config })
  const profiles = Buffer.from(JSON.stringify({ ...part, profiles: numbers(maxProfilesPerPart).map(profile) }))
  await expectShortTurns('40 profiles', () => report('PUT', 'structure', profiles))
})

test('lists of 5,000 devices and of 20,000 things', async () => {
  await expectShortTurns('5,000 devices', () => call('GET', '/devices'))
  await expectShortTurns('5,000 devices as CSV', () => call('GET', '/devices', undefined, { accept: 'text/csv' }))
  await expectShortTurns('20,000 things', () => call('GET', '/structure'))
  await expectShortTurns('a source', () => call('GET', ''))
})

test('adoptions of 200 devices, and 1,000 links', async () => {
  let tried = 0
  await expectShortTurns('200 adoptions', () => {
    const from = 200 * tried++
    const decisions = numbers(200).map((i) => ({ key: `device-${from + i}`, state: 'ADOPTED', roomId: site.rooms[0] }))
    return call('PUT', '/devices', { devices: decisions })
  })
  const links = numbers(maxLinksPerRequest).map((i) => ({ kind: 'room', theirId: String(i), linkedId: null }))
  await expectShortTurns('1,000 links', () => call('PUT', '/links', { links }))
  const { url } = harness
  await expectShortTurns('a page of items', () =>
    send('GET', `${url}${devicePaths.gatewayDevices}`, undefined, asGateway),
  )
})

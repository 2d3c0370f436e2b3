// Kills a server with SIGKILL again and again between commits and deliveries, and checks that its channel is told everything.
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { devicePaths } from '../../../src/contract/device/protocol.ts'
import { Receiver } from '../channels/receiver.ts'
import { frames, rawMqtt } from '../devices/raw-mqtt.ts'
import { freePort } from '../free-port.ts'
import { send } from '../harness.ts'
import { type Server, type Site, until } from '../program.ts'
import { SeededChoices } from './random.ts'

const writers = 3

interface KillOptions {
  readonly kills: number
  readonly seed: number
  /** Whether an incident opens between two kills. Its message is due a minute later, so this is for runs that last longer. */
  readonly opensIncident?: boolean
}

/** Every change of the organisation is told to a webhook. Returns how many changes were acknowledged. */
export async function deliveryKills(site: Site, { kills, seed, opensIncident }: KillOptions): Promise<number> {
  const receiver = await Receiver.start()
  const mqttPort = await freePort()
  const options = ['--mqtt-port', String(mqttPort), '--outbound-allow', '127.0.0.1']
  const choices = new SeededChoices(seed)
  const names = new Set<string>()
  let first: Server | undefined
  for (let cycle = 0; cycle < kills; cycle++) {
    const server: Server = await site.serve(...options)
    first ??= server
    const { org, key } = first
    const post = (path: string, body: object) => send(server.url, 'POST', `/v1/orgs/${org}${path}`, { key, body })
    if (cycle === 0) {
      const channel = { name: 'Log', kind: 'webhook', url: receiver.url, events: ['audit.entry', 'incident.opened'] }
      expect((await post('/channels', channel)).status).toBe(200)
      if (opensIncident) await sendWrongCredentials(server, mqttPort)
    }
    let isKilled = false
    const write = async (writer: number) => {
      for (let i = 0; !isKilled; i++) {
        const name = `c${cycle}-${writer}-${i}`
        const reply = await post('/regions', { name }).catch(() => undefined)
        if (!reply) return expect(isKilled, 'the server ended by itself').toBe(true)
        expect(reply.status, reply.text).toBe(200)
        names.add(name)
        await pause(10)
      }
    }
    const writing = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
    const before = names.size
    await until('something was written', () => names.size > before)
    await pause(choices.below(1500))
    isKilled = true
    await server.stop('SIGKILL')
    await writing
  }
  await site.serveHere(...options)
  const isAllTold = () => {
    const told = new Set(receiver.accepted.map(({ data }) => data.entry?.target?.name))
    return [...names].every((name) => told.has(name))
  }
  // Thousands of messages wait after many kills.
  await until('every acknowledged change is told', isAllTold, { everyMs: 500, timeoutMs: 60_000 + 20 * names.size })
  if (opensIncident) {
    const isOpened = () => receiver.accepted.some(({ type }) => type === 'incident.opened')
    await until('the incident is told', isOpened, { timeoutMs: 120_000 })
  }
  checkSequences(receiver)
  return names.size
}

/** The first run of the next start opens an incident of `credential.refused`. */
async function sendWrongCredentials({ url, org, key }: Server, mqttPort: number): Promise<void> {
  const room = (await send(url, 'POST', `/v1/orgs/${org}/rooms`, { key, body: { name: 'Fjord' } })).body
  const body = { code: room.dec, serial: 'S1', model: 'NF19B1' }
  const { endpointId } = (await send(url, 'POST', devicePaths.enrol, { body })).body
  for (let i = 0; i < 5; i++) {
    const connection = await rawMqtt(mqttPort)
    connection.socket.write(frames.connect(endpointId, `wrong ${i}`))
    await until('it is refused', () => connection.isClosed)
  }
  // Attempts are written every 5 seconds.
  await pause(6000)
}

/** A message that came twice has the same id and sequence both times, and no sequence is missing. */
function checkSequences(receiver: Receiver): void {
  const ids = new Map<number, string>()
  for (const { headers, body } of receiver.received) {
    const { sequence } = body.data
    const id = String(headers['webhook-id'])
    expect(ids.get(sequence) ?? id, `sequence ${sequence}`).toBe(id)
    ids.set(sequence, id)
  }
  expect(new Set(ids.values()).size).toBe(ids.size)
  expect([...ids.keys()].toSorted((a, b) => a - b)).toEqual(Array.from({ length: ids.size }, (_, i) => i + 1))
}

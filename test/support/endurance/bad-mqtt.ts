// Sends malformed and refused MQTT packets by the thousand, and checks that good devices are served on, in bounded memory.
import { connect } from 'node:net'
import { parser } from 'mqtt-packet'
import { expect } from 'vitest'
import { devicePaths, upTopic } from '../../../src/contract/device/protocol.ts'
import { frame, frames, text } from '../devices/raw-mqtt.ts'
import { TestDevice } from '../devices/test-device.ts'
import { send } from '../harness.ts'
import type { BadClientsServer } from './bad-http.ts'
import { type EnduranceCounts, report } from './counts.ts'
import { SeededChoices } from './random.ts'
import { inMebibytes, mebibyte, residentBytes } from './server-memory.ts'

/** Many, because most connections only wait until the client gives up. */
const connectionCount = 128
const packetsPerConnection = 5
/** A packet may announce bytes that never come; the client gives up then. */
const maxConnectionMs = 500
/** V8 collects garbage late, so the memory varies by this much without a leak. */
const maxGrowthBytes = 96 * mebibyte
/** A device may connect ten times, and then once every two seconds. With so many devices, few connections are refused for that. */
const deviceCountOf = (packets: number) => Math.min(500, Math.ceil(packets / 30))
const model = 'NF19B1'

interface Credential {
  readonly endpointId: string
  readonly credential: string
}

const payloads = ['', '{', '{"samples":1}', '{"samples":[{}]}', `"${'x'.repeat(4000)}"`, '[[[[]]]]', '{"a":{"b":null}}']

function badPacket(choices: SeededChoices, { endpointId, credential }: Credential): Buffer {
  const topic = choices.pick([
    upTopic(endpointId, 'sample'),
    upTopic(endpointId, 'status'),
    upTopic('nobody', 'sample'),
    'v1/+/up/#',
    '$SYS',
    '',
  ])
  switch (choices.below(8)) {
    case 0:
      return choices.bytes(1 + choices.below(100))
    case 1:
      return choices.damage(frames.connect(endpointId, credential))
    case 2:
      return frames.connect(endpointId, 'wrong', choices.below(256))
    case 3:
      return choices.damage(frames.publish(topic, choices.pick(payloads), 1, choices.below(65_536)))
    case 4:
      return frames.subscribe(choices.pick(['#', '+/+', `v1/nobody/down/#`, '']), choices.below(65_536))
    case 5:
      return frame(choices.below(256), text(topic), choices.bytes(choices.below(20)))
    default:
      return frames.publish(topic, choices.pick(payloads), 1, choices.below(65_536))
  }
}

/**
 * Writes the packets and waits until the server closes the connection, or for a short time. Returns how many bad ones the server has read:
 * those that it answered, and the one for which it closed the connection or waited for more bytes. After a CONNECT that is refused it
 * reads nothing.
 */
const sendPackets = (port: number, packets: Buffer, isConnected: boolean) =>
  new Promise<number>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(packets))
    const timer = setTimeout(() => socket.destroy(), maxConnectionMs)
    let isAccepted = !isConnected
    let answers = 0
    const reader = parser()
      .on('packet', (packet) => {
        if (packet.cmd === 'connack') isAccepted = packet.returnCode === 0
        else if (packet.cmd === 'puback' || packet.cmd === 'suback') answers++
      })
      .on('error', () => {})
    socket.on('data', (piece) => reader.parse(piece))
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(isAccepted ? answers + 1 : 0)
    })
  })

export async function badMqtt(
  { server, mqttPort }: BadClientsServer,
  { badMqttPackets, seed }: EnduranceCounts,
): Promise<{ packets: number; memoryFactor: number }> {
  const choices = new SeededChoices(seed)
  const { url, org, key } = server
  const { dec } = (await send(url, 'POST', `/v1/orgs/${org}/rooms`, { key, body: { name: 'Fjord' } })).body
  const enrol = async (serial: string) =>
    (await send(url, 'POST', devicePaths.enrol, { body: { code: dec, serial, model } })).body
  const credentials: Credential[] = []
  for (let i = 0; i < deviceCountOf(badMqttPackets); i++) credentials.push(await enrol(`BAD${i}`))
  const good = new TestDevice(mqttPort, 'GOOD', model, await enrol('GOOD'))
  await good.connect()

  let read = 0
  let begun = 0
  const sendUntil = (total: number) =>
    Promise.all(
      Array.from({ length: connectionCount }, async () => {
        while (read < total) {
          // In turn, so that no connection ends because its device connects again.
          const device = credentials[begun++ % credentials.length] as Credential
          const isConnected = choices.below(4) === 0
          const packets = Array.from({ length: packetsPerConnection }, () => badPacket(choices, device))
          const begin = isConnected ? [frames.connect(device.endpointId, device.credential)] : []
          // Without a CONNECT the server reads one packet and closes the connection.
          const bytes = Buffer.concat(isConnected ? [...begin, ...packets] : packets.slice(0, 1))
          const count = await sendPackets(mqttPort, bytes, isConnected)
          read += count
          expect(server.isRunning, server.stderr).toBe(true)
        }
      }),
    )
  const started = performance.now()
  await sendUntil(badMqttPackets / 4)
  const before = await residentBytes(url)
  await sendUntil(badMqttPackets)
  const seconds = (performance.now() - started) / 1000
  const after = await residentBytes(url)
  // The good device was connected all the time, and is served.
  await good.publish('sample', { samples: [{ timestamp: Math.floor(Date.now() / 1000) - 10, co2: 500 }] })
  const { body } = await send(url, 'GET', `/v1/orgs/${org}/endpoints/${good.id}/sensor`, { key })
  expect(body.endpointData.data[0].co2).toBe(500)
  await good.close()
  expect(server.stderr, 'nothing is logged as an error').toBe('')
  expect(after).toBeLessThan(before * 1.5 + maxGrowthBytes)
  report('bad MQTT', seed, {
    packets: read,
    seconds: Math.round(seconds),
    'memory after a quarter': inMebibytes(before),
    'memory at the end': inMebibytes(after),
  })
  return { packets: read, memoryFactor: after / before }
}

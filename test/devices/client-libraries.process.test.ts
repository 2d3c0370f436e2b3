// Devices that are written with other people's MQTT clients: paho for Python, mosquitto and mqtt.js, each in MQTT 3.1.1 and 5.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import mqtt, { type IClientOptions } from 'mqtt'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { downTopic, upTopic } from '../../src/contract/device/protocol.ts'
import { need, pahoClient } from '../support/debian.ts'
import { newDevice, type TestDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'

/** Debian's own, because its package puts paho beside it. */
const python = '/usr/bin/python3'
const pahoDevice = join(import.meta.dirname, '../support/devices/paho-device.py')
const foreignTopic = upTopic('5a2f4f3e-8f2c-4f5f-9b0e-3f1f6f0c7a11', 'status')
const versions = [4, 5] as const
type Version = (typeof versions)[number]

let harness: Harness
let org: TestOrg
let roomId: number
beforeAll(async () => {
  need('mosquitto_pub', pahoClient)
  harness = await startHarness()
  org = await harness.newOrg()
  roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
})
afterAll(() => harness.close())

/** A device for which a config waits. */
async function enrolled(): Promise<TestDevice> {
  const device = await newDevice(harness, org, { roomId, offline: true })
  await org.call('POST', `/endpoints/${device.id}/config`, { body: { nightMode: true } })
  return device
}
const orientation = async ({ id }: TestDevice) => (await org.call('GET', `/endpoints/${id}`)).body.orientation

const config = { version: 1, config: { nightMode: true } }
const unknown = 'The service does not know this endpoint ID with this credential. Keep them and try again later.'
const ownTopicsOnly = 'a device may publish to its own topics only'

describe.each(versions)('paho in version %d', (version) => {
  const run = async ({ id }: TestDevice, credential: string, task: string) => {
    const args = [pahoDevice, harness.mqttPort, id, credential, version, task].map(String)
    const { stdout } = await promisify(execFile)(python, args, { timeout: 20_000 })
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  }

  test('reports, receives its config, and is told about a bad message', async () => {
    const device = await enrolled()
    const events = await run(device, device.credential, 'talk')
    expect(events).toContainEqual({ event: 'connected', code: 0, text: null })
    expect(events).toContainEqual({ event: 'config', body: config })
    expect(events).toContainEqual({
      event: 'message-refused',
      body: expect.objectContaining({ field: '/orientation' }),
    })
    expect(await orientation(device)).toBe('portrait')
  })

  test('learns why it is refused and why its connection ends', async () => {
    const device = await enrolled()
    const [refused] = await run(device, `${device.credential}x`, 'talk')
    expect(refused).toEqual({
      event: 'connected',
      ...(version === 5 ? { code: 0x87, text: unknown } : { code: 5, text: null }),
    })
    const ending = (await run(device, device.credential, 'foreign')).at(-1)
    expect(ending).toMatchObject({ event: 'disconnected' })
    if (version === 5) expect(ending).toEqual({ event: 'disconnected', code: 0x87, text: ownTopicsOnly })
  })
})

describe.each(versions)('mosquitto in version %d', (version) => {
  const run = (program: string, { id }: TestDevice, credential: string, ...args: string[]) => {
    const to = ['-h', '127.0.0.1', '-p', String(harness.mqttPort), '-u', id, '-P', credential, '-q', '1']
    const dialect = ['-V', version === 5 ? 'mqttv5' : 'mqttv311']
    return promisify(execFile)(program, [...to, ...dialect, ...args], { timeout: 20_000 }).catch((error) => error)
  }

  test('reports, receives its config, and is told about a bad message', async () => {
    const device = await enrolled()
    const { id, credential } = device
    await run('mosquitto_pub', device, credential, '-t', upTopic(id, 'status'), '-m', '{"orientation":"portrait"}')
    expect(await orientation(device)).toBe('portrait')
    const heard = await run('mosquitto_sub', device, credential, '-t', downTopic(id, '#'), '-C', '1', '-W', '10')
    expect(JSON.parse(heard.stdout)).toEqual(config)
    const answerTo = ['-e', downTopic(id, 'message-refused'), '-t', upTopic(id, 'status'), '-m', '[]', '-W', '10']
    const refused = await run('mosquitto_rr', device, credential, ...answerTo)
    expect(JSON.parse(refused.stdout)).toMatchObject({ kind: 'status', field: '' })
  })

  test('learns why it is refused and why its connection ends', async () => {
    const device = await enrolled()
    const refused = await run('mosquitto_pub', device, 'wrong', '-t', upTopic(device.id, 'status'), '-m', '{}')
    expect(refused.stderr).toContain(version === 5 ? 'Not authorized' : 'Connection Refused: not authorised.')
    const ended = await run('mosquitto_pub', device, device.credential, '-d', '-t', foreignTopic, '-m', '{}')
    expect(ended.stdout).toContain('sending PUBLISH')
    if (version === 5) expect(ended.stdout).toContain('Received DISCONNECT (135)')
    else expect(ended.stdout).not.toContain('Received DISCONNECT')
  })
})

describe.each(versions)('mqtt.js in version %d', (protocolVersion: Version) => {
  const options = (password: string, device: TestDevice): IClientOptions => ({
    protocolVersion,
    username: device.id,
    password,
    keepalive: 30,
    reconnectPeriod: 0,
  })
  const url = () => `mqtt://127.0.0.1:${harness.mqttPort}`

  test('reports, receives its config, and is told about a bad message', async () => {
    const device = await enrolled()
    await device.connect({ protocolVersion })
    await device.publish('status', { orientation: 'portrait' })
    expect(await orientation(device)).toBe('portrait')
    expect(await device.next('config')).toEqual(config)
    const bad = device.publish('status', [])
    // In MQTT 5 the acknowledgement itself says so.
    if (protocolVersion === 5) await expect(bad).rejects.toMatchObject({ code: 0x99 })
    else await bad
    expect(await device.next('message-refused')).toMatchObject({ field: '' })
    await device.close()
  })

  test('learns why it is refused and why its connection ends', async () => {
    const device = await enrolled()
    const refused = await mqtt.connectAsync(url(), options('wrong', device)).catch((error) => error)
    expect(refused).toMatchObject({ code: protocolVersion === 5 ? 0x87 : 5 })
    await device.connect({ protocolVersion })
    const told = new Promise((resolve) => device.client.once('disconnect', resolve))
    device.client.publish(foreignTopic, '{}', { qos: 1 })
    await device.ended()
    if (protocolVersion === 5)
      expect(await told).toMatchObject({ reasonCode: 0x87, properties: { reasonString: ownTopicsOnly } })
  })
})

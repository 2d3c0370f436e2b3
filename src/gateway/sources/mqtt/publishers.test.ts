// The messages of each publisher at a real mosquitto: found with their values, adopted, and sent up as samples.
import type { MqttClient } from 'mqtt'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import {
  brokerPassword,
  brokerUser,
  startTestBroker,
  type TestBroker,
} from '../../../../test/support/drivers/mosquitto.ts'
import { type Publisher, publishers } from '../../../../test/support/drivers/mqtt-publishers.ts'
import { openTestDevice, openTestSource } from '../../../../test/support/drivers/source-session.ts'
import { usualMqttLimits } from './limits.ts'
import { MqttDriver } from './mqtt-driver.ts'

let broker: TestBroker
let client: MqttClient
beforeAll(async () => {
  broker = await startTestBroker()
  client = await broker.connect()
})
afterAll(async () => {
  await client.endAsync(true)
  await broker.stop()
})

const driver = new MqttDriver({
  ...usualMqttLimits,
  tickMs: 30,
  foundAfterMs: 60,
  valuesEveryMs: 100,
  vanishedAfterMs: 100,
})
const open = (settings: object = {}) =>
  openTestSource(driver, {
    url: `mqtt://127.0.0.1:${broker.port}`,
    username: brokerUser,
    secret: brokerPassword,
    ...settings,
  })

const publish = async (messages: Publisher['announces']) => {
  for (const { topic, payload, retain = false } of messages) {
    await client.publishAsync(topic, typeof payload === 'string' ? payload : JSON.stringify(payload), {
      qos: 1,
      retain,
    })
    if (retain) onTestFinished(async () => void (await client.publishAsync(topic, '', { qos: 1, retain: true })))
  }
}

test.each(publishers)('$name ($documentedIn)', async ({ announces, says, mappings, expected }) => {
  await publish(announces)
  const source = await open({ mappings })
  await publish(says)
  await expect.poll(() => source.found.get(expected.key)?.values).toEqual(expected.values)
  const { key, model, sensors, serial } = source.found.get(expected.key) ?? {}
  expect({ key, model, sensors, serial }).toEqual({
    key: expected.key,
    model: expected.model,
    sensors: expected.sensors,
    serial: expected.serial,
  })
  const device = await openTestDevice(source, expected.key)
  expect(device.session.offlineBecause).toBeUndefined()
  await publish(says.map((message) => ({ ...message, payload: expected.again?.(message) ?? message.payload })))
  await expect.poll(() => device.latest()).toMatchObject(expected.values)
  const { kind, peopleIs, readings } = device.status()
  expect({ kind, peopleIs }).toEqual({ kind: 'SENSOR', peopleIs: expected.isPresence ? 'PRESENCE' : 'COUNT' })
  for (const reading of expected.readings ?? []) expect(readings).toContainEqual(reading)
  expect(source.found.get(expected.key)?.notUnderstood ?? []).toEqual(expected.notUnderstood ?? [])
  expect(source.logged).toEqual([])
})

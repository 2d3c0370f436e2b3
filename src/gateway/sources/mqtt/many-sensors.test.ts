// A thousand sensors at a real mosquitto with a hundred messages a second: every value goes up, soon and with little processor time.
import { expect, onTestFinished, test } from 'vitest'
import { brokerPassword, brokerUser, startTestBroker } from '../../../../test/support/drivers/mosquitto.ts'
import { emptyMemory, openTestSource } from '../../../../test/support/drivers/source-session.ts'
import { isFullForm } from '../../../../test/support/long-form.ts'
import { MqttDriver } from './mqtt-driver.ts'

const sensorCount = 1000
const messagesPerSecond = 100
const lengthSeconds = isFullForm ? 60 : 4

test(`${sensorCount} sensors, ${messagesPerSecond} messages a second for ${lengthSeconds} s`, async () => {
  const broker = await startTestBroker()
  onTestFinished(() => broker.stop())
  const client = await broker.connect()
  onTestFinished(() => void client.end(true))
  const quantities = { co2: ['carbon_dioxide', 'ppm'], temperature: ['temperature', '°C'] } as const
  for (let i = 0; i < sensorCount; i++)
    for (const [name, [device_class, unit_of_measurement]] of Object.entries(quantities)) {
      const entity = {
        state_topic: `zigbee2mqtt/s${i}`,
        value_template: `{{ value_json["${name}"] }}`,
        device_class,
        unit_of_measurement,
        unique_id: `s${i}_${name}`,
        availability: [{ topic: 'zigbee2mqtt/bridge/state', value_template: '{{ value_json.state }}' }],
        device: { identifiers: [`s${i}`], name: `s${i}`, model: 'M' },
      }
      client.publish(`homeassistant/sensor/s${i}/${name}/config`, JSON.stringify(entity), { retain: true })
    }
  await client.publishAsync('zigbee2mqtt/bridge/state', '{"state":"online"}', { qos: 1, retain: true })
  const url = `mqtt://127.0.0.1:${broker.port}`
  const { session } = await openTestSource(new MqttDriver(), { url, username: brokerUser, secret: brokerPassword })
  await expect.poll(() => session.summary().content?.devices).toBe(sensorCount)
  const sentAtMs = new Map<number, number>()
  const delaysMs: number[] = []
  for (let i = 0; i < sensorCount; i++) {
    const device = await session.openDevice(`ha/s${i}`, { signal: AbortSignal.timeout(600_000), memory: emptyMemory() })
    device.on('sample', ({ co2 }) => {
      const atMs = sentAtMs.get(co2 ?? 0)
      if (atMs !== undefined) delaysMs.push(performance.now() - atMs)
      sentAtMs.delete(co2 ?? 0)
    })
  }
  const messages = messagesPerSecond * lengthSeconds
  const before = process.cpuUsage()
  const startMs = performance.now()
  for (let sent = 0; sent < messages; ) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    const due = Math.min(messages, Math.floor(((performance.now() - startMs) / 1000) * messagesPerSecond))
    for (; sent < due; sent++) {
      sentAtMs.set(400 + sent, performance.now())
      client.publish(`zigbee2mqtt/s${sent % sensorCount}`, JSON.stringify({ co2: 400 + sent, temperature: 21.4 }))
    }
  }
  await expect.poll(() => delaysMs.length).toBe(messages)
  const { user, system } = process.cpuUsage(before)
  const median = delaysMs.toSorted((a, b) => a - b)[Math.floor(messages / 2)] as number
  const cpuPercent = (user + system) / 10 / (performance.now() - startMs)
  // With the publisher in the same process. The machine can be busy, so the limits are wide.
  expect(median).toBeLessThan(1000)
  expect(cpuPercent).toBeLessThan(60)
})

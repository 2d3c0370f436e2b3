// A thousand sensors at a real mosquitto over TLS with a hundred messages a second: every value goes up, soon and with little processor time.
import { expect, onTestFinished, test } from 'vitest'
import { brokerPassword, brokerUser, startTestBroker } from '../../../../test/support/drivers/mosquitto.ts'
import {
  emptyMemory,
  type OpenedSource,
  openTestDevice,
  openTestSource,
} from '../../../../test/support/drivers/source-session.ts'
import { isFullForm } from '../../../../test/support/long-form.ts'
import { longestTurn } from '../../../../test/support/longest-turn.ts'
import { usualMqttLimits } from './limits.ts'
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
  const url = `mqtts://127.0.0.1:${broker.tlsPort}`
  const signIn = { username: brokerUser, secret: brokerPassword, authority: broker.cert }
  const { session } = await openTestSource(new MqttDriver(), { url, ...signIn })
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
  const figures = `${sensorCount} sensors: median delay ${median.toFixed(1)} ms, ${cpuPercent.toFixed(1)} % of a core\n`
  if (isFullForm) process.stdout.write(figures)
  // With the publisher in the same process. The machine can be busy, so the limits are wide.
  expect(median).toBeLessThan(1000)
  expect(cpuPercent).toBeLessThan(60)
})

const announcementCount = 50_000

// The short form is in mqtt-driver.test.ts, with smaller limits.
test.runIf(isFullForm)(
  `a flood of ${announcementCount} retained announcements is bounded at the usual limits, and a sensor is read after it`,
  async () => {
    const broker = await startTestBroker()
    onTestFinished(() => broker.stop())
    const client = await broker.connect()
    onTestFinished(() => void client.end(true))
    const entity = { dev_cla: 'humidity', unit_of_meas: '%', val_tpl: '{{ value_json.humidity }}' }
    const announce = (name: string) =>
      client.publishAsync(
        `homeassistant/sensor/${name}/x/config`,
        JSON.stringify({ ...entity, stat_t: `flood/${name}`, uniq_id: name, dev: { ids: name, mdl: 'Flood' } }),
        { retain: true, qos: 1 },
      )
    for (let i = 0; i < announcementCount; i += 1_000)
      await Promise.all(Array.from({ length: 1_000 }, (_, j) => announce(`flood${i + j}`)))
    const before = process.memoryUsage.rss()
    const startMs = performance.now()
    let opened: OpenedSource | undefined
    const longestMs = await longestTurn(async () => {
      const signIn = { username: brokerUser, secret: brokerPassword, authority: broker.cert }
      const settings = { url: `mqtts://127.0.0.1:${broker.tlsPort}`, ...signIn }
      opened = await openTestSource(new MqttDriver(), settings, { isChecked: false })
      const { session, found } = opened
      await expect.poll(() => found.size, { timeout: 240_000 }).toBe(usualMqttLimits.maxDevices)
      const [key = ''] = found.keys()
      const { latest } = await openTestDevice(opened, key)
      // The broker sends this after all that it has retained.
      const topic = `flood/${key.slice('ha/'.length)}`
      await client.publishAsync(topic, '{"humidity":41}', { qos: 1 })
      await expect.poll(latest, { timeout: 240_000 }).toEqual({ humidity: 41 })
      expect(session.summary().notes?.join()).toContain(`a source has at most ${usualMqttLimits.maxDevices} devices`)
    })
    const figures = {
      seconds: Math.round((performance.now() - startMs) / 1_000),
      longestTurnMs: Math.round(longestMs),
      moreMiB: Math.round((process.memoryUsage.rss() - before) / 2 ** 20),
    }
    process.stdout.write(`${announcementCount} announcements: ${JSON.stringify(figures)}\n`)
    expect(figures.longestTurnMs).toBeLessThan(1_000)
    expect(figures.moreMiB).toBeLessThan(200)
    expect(opened?.ended).toEqual([])
    expect(opened?.session.summary().content?.devices).toBe(usualMqttLimits.maxDevices)
  },
)

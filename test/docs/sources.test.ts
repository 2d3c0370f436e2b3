// Carries out the examples of docs/mqtt-sensors.md, and compares both documents about sources with the program.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { minuteMs, secondMs } from '../../src/contract/durations.ts'
import { maxGatewayDevices } from '../../src/contract/fleet/gateways.ts'
import { maxSourceDevices, type SensorMapping, sourceStates } from '../../src/contract/fleet/sources.ts'
import { maxChannelsPerDevice, usualMqttLimits } from '../../src/gateway/sources/mqtt/limits.ts'
import { MqttDriver } from '../../src/gateway/sources/mqtt/mqtt-driver.ts'
import { usualPulseTimes } from '../../src/gateway/sources/neat-pulse/pulse-session.ts'
import { maxJsonDepth } from '../../src/sensor-mapping/limited-json.ts'
import { previewMapping } from '../../src/sensor-mapping/mapping.ts'
import { evaluate, NotUnderstood, parseTemplate, TemplateInput } from '../../src/sensor-mapping/template.ts'
import { brokerPassword, startTestBroker } from '../support/drivers/mosquitto.ts'
import { openTestSource } from '../support/drivers/source-session.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const mqtt = read('docs/mqtt-sensors.md')
const pulse = read('docs/pulse.md')
const blocksOf = (text: string, language: string) =>
  [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, name, block = '']) => (name === language ? block : []))
const sectionOf = (text: string, title: string) => text.split(/^## /m).find((part) => part.startsWith(title)) ?? ''
const codeIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)

/** A message for each mapping in the document, and what is read from it. */
const messages: Readonly<Record<string, readonly [topic: string, payload: object, values: object]>> = {
  'Milesight VS121': [
    'application/1/device/24e124716d000001/event/up',
    {
      deviceInfo: { devEui: '24e124716d000001', deviceProfileName: 'VS121' },
      time: '2026-05-04T08:15:30.000Z',
      object: { people_count_all: 4 },
    },
    { people: 4 },
  ],
  'Desk sensor': ['desks/7/state', { seat: { taken: true }, t: '70.7' }, { presence: 1, temp: 21.5 }],
}

test('every mapping in docs/mqtt-sensors.md reads a message of its device', () => {
  const mappings = blocksOf(mqtt, 'json').map((block): SensorMapping => JSON.parse(block))
  expect(mappings.map(({ model }) => model)).toEqual(Object.keys(messages))
  for (const mapping of mappings) {
    const [topic, payload, values] = messages[mapping.model] ?? ['', {}, {}]
    const found = previewMapping(mapping, { topic, payload: JSON.stringify(payload) })
    expect(found.problems).toEqual([])
    expect(Object.fromEntries(found.values.map(({ sensor, value }) => [sensor, value]))).toEqual(values)
  }
})

test('every template and filter in docs/mqtt-sensors.md is understood', () => {
  const examples = codeIn(sectionOf(mqtt, 'Value templates'))
  const templates = examples.map((code) => (code.startsWith('{{') ? code : `{{ value_json.co2 | ${code} }}`))
  expect(templates.length).toBeGreaterThanOrEqual(8)
  const payload = JSON.stringify({ co2: 612.4, a: { b: { c: { d: ['first'] } } } })
  for (const text of templates) {
    const template = parseTemplate(text)
    if (template instanceof NotUnderstood) throw new Error(template.sentence)
    expect(evaluate(template, new TemplateInput({ topic: 'x', payload })).kind, text).toBe('value')
  }
})

test('the user of the broker in docs/mqtt-sensors.md, who may only read, is enough', async () => {
  const [acl = ''] = blocksOf(mqtt, '')
  const [, user = ''] = /^user (\S+)/.exec(acl) ?? []
  const broker = await startTestBroker({ reader: { user, acl } })
  onTestFinished(() => broker.stop())
  const client = await broker.connect()
  onTestFinished(() => void client.end(true))
  const entity = {
    state_topic: 'zigbee2mqtt/air',
    value_template: '{{ value_json.co2 }}',
    device_class: 'carbon_dioxide',
    unit_of_measurement: 'ppm',
    unique_id: 'air_co2',
    device: { identifiers: ['air'], model: 'M' },
  }
  const options = { qos: 1, retain: true } as const
  await client.publishAsync('homeassistant/sensor/air/co2/config', JSON.stringify(entity), options)
  const url = `mqtt://127.0.0.1:${broker.port}`
  const driver = new MqttDriver({ ...usualMqttLimits, tickMs: 50, foundAfterMs: 50, valuesEveryMs: 100 })
  const source = await openTestSource(driver, { url, username: user, secret: brokerPassword })
  await expect.poll(() => source.found.has('ha/air')).toBe(true)
  await client.publishAsync('zigbee2mqtt/air', '{"co2":612}', { qos: 1 })
  await expect.poll(() => source.found.get('ha/air')?.values).toEqual({ co2: 612 })
})

test('the limits in docs/mqtt-sensors.md are those of the driver', () => {
  const rows = [...sectionOf(mqtt, 'Limits').matchAll(/^\| (?!what|---)([^|]+) \| ([^|]+) \|$/gm)]
  const inDocument = rows.map(([, what, limit = '']) => [
    what,
    (limit.match(/\d[\d,]*/g) ?? []).map((n) => Number(n.replace(',', ''))),
  ])
  expect(inDocument).toEqual([
    ['devices of a source', [maxSourceDevices, maxGatewayDevices]],
    ['topics', [usualMqttLimits.maxTopics]],
    ['a message', [usualMqttLimits.maxPacketBytes / 1024]],
    ['messages a second', [usualMqttLimits.maxMessagesPerSecond]],
    ['depth of JSON', [maxJsonDepth]],
    ['entities of a device that are read', [maxChannelsPerDevice]],
  ])
})

test('docs/pulse.md names states, controls and times as they are', () => {
  const states = [...sectionOf(pulse, 'When something is wrong').matchAll(/^\| ([A-Z]+) \|/gm)].map(
    ([, state]) => state,
  )
  expect(states).toEqual(['REFUSED', 'FAILING', 'UNREACHABLE', 'UNSUPPORTED'])
  expect(sourceStates).toEqual(expect.arrayContaining(states))
  const folders = ['src/console/pages/settings/sources', 'src/console/domain/fleet/gateway']
  const shown = folders
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => read(join(folder, name))))
    .join('\n')
  for (const label of ['Connect Neat Pulse', 'Test', 'Plan', 'Devices', 'Write', 'Remove']) {
    expect(pulse).toContain(`**${label}**`)
    expect(shown, label).toMatch(new RegExp(`['">\\s]${label}\\b`))
  }
  expect(pulse).toContain('At most two requests go out in a second')
  expect(usualPulseTimes.twoWithinMs).toBeGreaterThanOrEqual(secondMs)
  expect(pulse).toContain('every minute')
  expect(usualPulseTimes.listMs).toBe(minuteMs)
})

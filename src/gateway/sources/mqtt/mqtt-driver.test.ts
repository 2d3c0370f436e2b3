// The driver mqtt at a real mosquitto: availability, silence, repetition, broken messages, floods, announcements that change, restarts.
import type { MqttClient } from 'mqtt'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { brokenPayloads } from '../../../../test/support/drivers/broken-payloads.ts'
import {
  brokerPassword,
  brokerUser,
  startTestBroker,
  type TestBroker,
} from '../../../../test/support/drivers/mosquitto.ts'
import { emptyMemory, openTestDevice, openTestSource } from '../../../../test/support/drivers/source-session.ts'
import { until } from '../../../../test/support/program.ts'
import { type MqttLimits, usualMqttLimits } from './limits.ts'
import { MqttDriver } from './mqtt-driver.ts'
import type { RememberedDevice } from './sensor-device.ts'

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

const quick: MqttLimits = {
  ...usualMqttLimits,
  tickMs: 20,
  foundAfterMs: 40,
  valuesEveryMs: 60,
  vanishedAfterMs: 100,
  readingsEveryMs: 50,
}
const open = (limits: Partial<MqttLimits> = {}, settings: object = {}) =>
  openTestSource(new MqttDriver({ ...quick, ...limits }), {
    url: `mqtt://127.0.0.1:${broker.port}`,
    username: brokerUser,
    secret: brokerPassword,
    ...settings,
  })

const say = (topic: string, payload: unknown) =>
  client.publishAsync(
    topic,
    typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload),
    { qos: 1 },
  )
async function retain(topic: string, payload: unknown) {
  onTestFinished(async () => void (await client.publishAsync(topic, '', { qos: 1, retain: true })))
  await client.publishAsync(topic, typeof payload === 'string' ? payload : JSON.stringify(payload), {
    qos: 1,
    retain: true,
  })
}

let count = 0
/** Announces an entity of a new device, and returns its key. */
async function announce(entity: object, { component = 'sensor', device = `device${++count}`, entityId = 'one' } = {}) {
  const topic = `homeassistant/${component}/${device}/${entityId}/config`
  const whole = {
    state_topic: `state/${device}`,
    device_class: 'carbon_dioxide',
    unit_of_measurement: 'ppm',
    value_template: '{{ value_json.co2 | float }}',
    unique_id: `${device}_${entityId}`,
    device: { identifiers: [device], name: device, model: 'Tester' },
    ...entity,
  }
  await retain(topic, whole)
  return { topic, key: `ha/${device}`, state: `state/${device}`, device }
}
const presence = { device_class: 'occupancy', value_template: null, payload_on: 'yes', payload_off: 'no' }

test.each([
  ['latest', ['down', 'up'], undefined],
  ['latest', ['up', 'down'], 'offline'],
  ['all', ['up', 'down'], 'offline'],
  ['all', ['up', 'up'], undefined],
  ['any', ['up', 'down'], undefined],
  ['any', ['down', 'down'], 'offline'],
] as const)('availability mode %s with %j', async (mode, states, expected) => {
  const topics = ['a', 'b'].map((name) => `available/${++count}/${name}`)
  const { key, state } = await announce({
    availability_mode: mode,
    availability: topics.map((topic) => ({ topic, payload_available: 'up', payload_not_available: 'down' })),
  })
  const source = await open()
  for (const [i, payload] of states.entries()) await say(topics[i] as string, payload)
  await say(state, { co2: 612 })
  await expect.poll(() => source.found.get(key)?.topic).toBe(state)
  const { session } = await openTestDevice(source, key)
  const said = 'Its publisher says that it is offline (available/'
  expect(session.offlineBecause?.slice(0, said.length)).toBe(expected && said)
})

test('a sensor that says that it is offline, and comes back, says so to its session', async () => {
  const { key, device } = await announce({ availability_topic: 'back/status' })
  await retain('back/status', 'online')
  const source = await open()
  const { session } = await openTestDevice(source, key)
  const states: boolean[] = []
  session.on('presence', () => states.push(session.offlineBecause === undefined))
  await say('back/status', 'offline')
  await expect.poll(() => states).toEqual([false])
  await say('back/status', 'online')
  await expect.poll(() => states).toEqual([false, true])
  expect(device).toBeTruthy()
})

test('expire_after: the sensor is offline until the next value', async () => {
  const { key, state } = await announce({ expire_after: 0.3 })
  const source = await open()
  const { session } = await openTestDevice(source, key)
  expect(session.offlineBecause).toBeUndefined()
  await say(state, { co2: 612 })
  await expect
    .poll(() => session.offlineBecause)
    .toMatch(/^It has sent no value for 1 s, and is expected to send one every 1 s\.$/)
  await say(state, { co2: 613 })
  await expect.poll(() => session.offlineBecause).toBeUndefined()
})

test('without availability and expire_after a sensor is offline after a long silence, and so is one behind a shared bridge', async () => {
  const bridge = { availability: [{ topic: 'bridge/state' }] }
  const alone = await announce({})
  const [one, two] = [await announce(bridge), await announce(bridge)]
  const own = await announce({ availability_topic: 'own/state' })
  await retain('bridge/state', 'online')
  await retain('own/state', 'online')
  const source = await open({ silentAfterMs: 400 })
  const devices = await Promise.all([alone, one, two, own].map(({ key }) => openTestDevice(source, key)))
  const states = () => devices.map(({ session }) => session.offlineBecause !== undefined)
  await expect.poll(states).toEqual([true, true, true, false])
  expect(devices[0]?.session.offlineBecause).toBe('Nothing has been heard from this sensor for 1 s.')
  await say(alone.state, { co2: 612 })
  await expect.poll(states).toEqual([false, true, true, false])
})

test('an occupied state goes up again and again, other values for a limited time', async () => {
  const { key, device } = await announce({})
  await announce(
    { ...presence, state_topic: `seat/${device}` },
    { component: 'binary_sensor', device, entityId: 'seat' },
  )
  const source = await open({ occupiedEveryMs: 100, othersEveryMs: 200, othersForMs: 700 })
  const { samples, status } = await openTestDevice(source, key)
  expect(status()).toMatchObject({ kind: 'SENSOR', sensors: ['co2', 'people'], peopleIs: 'PRESENCE' })
  await say(`state/${device}`, { co2: 612 })
  await say(`seat/${device}`, 'yes')
  await expect.poll(() => samples.filter(({ people }) => people === 1).length).toBeGreaterThan(12)
  const co2 = samples.filter((sample) => sample.co2 === 612).length
  expect(co2).toBeGreaterThan(2)
  expect(co2).toBeLessThan(7)
  await say(`seat/${device}`, 'no')
  await expect.poll(() => samples.at(-1)?.people).toBe(0)
})

test('off_delay ends an occupied state by itself', async () => {
  const { key, state } = await announce({ ...presence, off_delay: 0.3 }, { component: 'binary_sensor' })
  const source = await open({ occupiedEveryMs: 50, othersEveryMs: 50 })
  const { latest } = await openTestDevice(source, key)
  await say(state, 'yes')
  await expect.poll(latest).toEqual({ people: 1 })
  await expect.poll(latest).toEqual({ people: 0 })
})

test('a hundred kinds of broken payload yield no value, are counted, and the next value arrives', async () => {
  expect(brokenPayloads.length).toBeGreaterThanOrEqual(100)
  const { key, state } = await announce({})
  const source = await open()
  const { samples } = await openTestDevice(source, key)
  for (const payload of brokenPayloads) await say(state, payload)
  await say(state, { co2: 612 })
  await expect.poll(() => samples.map(({ co2 }) => co2)).toEqual([612])
  await expect.poll(() => source.found.get(key)?.values).toEqual({ co2: 612 })
  const [refusals] = source.found.get(key)?.notUnderstood ?? []
  expect(Number(/^(\d+) values were refused/.exec(refusals ?? '')?.[1])).toBeGreaterThan(70)
  expect(source.session.summary().notes?.join('\n')).toContain('1 messages were larger than 256 KiB and were not read.')
  expect(source.ended).toEqual([])
})

test('broken announcements are left out, and those with other templates or units are listed with their text', async () => {
  const broken = [
    '{',
    '[]',
    'null',
    '"x"',
    '{}',
    '{"state_topic":7}',
    '{"stat_t":"a/#/b","dev_cla":"temperature"}',
    '['.repeat(5000),
  ]
  for (const [i, payload] of broken.entries()) await retain(`homeassistant/sensor/broken${i}/x/config`, payload)
  const { key, device } = await announce({ value_template: '{{ value_json.co2 * 10 }}' })
  await announce({ unit_of_measurement: 'mg/m³' }, { device, entityId: 'two' })
  const source = await open()
  await expect.poll(() => [...source.found.keys()]).toEqual([key])
  expect(source.found.get(key)).toMatchObject({
    sensors: [],
    notUnderstood: [
      'one: Not understood: {{ value_json.co2 * 10 }}',
      'co2: The unit mg/m³ is not known. Known units: ppm, ppb, %.',
    ],
  })
})

test('an announcement that changes is read again, and one that vanishes makes its device missing until it is back', async () => {
  const { key, topic, state, device } = await announce({})
  const source = await open()
  const { session, latest } = await openTestDevice(source, key)
  await announce(
    {
      state_topic: 'moved/here',
      device_class: 'temperature',
      unit_of_measurement: '°C',
      value_template: '{{ value }}',
    },
    { device },
  )
  await expect.poll(() => source.found.get(key)?.sensors).toEqual(['temp'])
  await say(state, { co2: 612 })
  await say('moved/here', '21.4')
  await expect.poll(latest).toEqual({ temp: 21.4 })
  await client.publishAsync(topic, '', { qos: 1, retain: true })
  await expect.poll(() => source.found.get(key)?.isMissing).toBe(true)
  await expect.poll(() => session.offlineBecause).toBe('The broker no longer announces this sensor.')
  await announce({}, { device })
  await expect.poll(() => source.found.get(key)?.isMissing).toBeUndefined()
  await expect.poll(() => session.offlineBecause).toBeUndefined()
})

test('a flood of retained announcements is bounded, and the sensors before it are read', async () => {
  const { key, state } = await announce({})
  const source = await open({ maxDevices: 50, maxTopics: 60 })
  const topics = Array.from({ length: 300 }, (_, i) => `homeassistant/sensor/flood${i}/x/config`)
  for (const [i, topic] of topics.entries())
    await retain(topic, {
      stat_t: `flood/${i}`,
      dev_cla: 'humidity',
      unit_of_meas: '%',
      uniq_id: `flood${i}`,
      dev: { ids: `flood${i}` },
    })
  await expect.poll(() => source.found.size).toBe(50)
  const { latest } = await openTestDevice(source, key)
  await say(state, { co2: 612 })
  await expect.poll(latest).toEqual({ co2: 612 })
  expect(source.session.summary().notes?.join()).toContain('a source has at most 50 devices and 60 topics')
})

test('after a restart a sensor that speaks rarely is open, and its values from before are sent', async () => {
  const topic = 'airgradient/readings/ecda3bffff01'
  const first = await open({ saveEveryMs: 0 })
  await say(topic, { serialno: 'ecda3bffff01', rco2: 612 })
  const key = 'airgradient/ecda3bffff01'
  await expect.poll(() => first.found.has(key)).toBe(true)
  const memory = emptyMemory()
  await openTestDevice(first, key, memory)
  await expect.poll(() => memory.saved).toMatchObject({ values: { co2: { value: 612 } } })
  first.session.close()
  const second = await open()
  const { session, latest, status } = await openTestDevice(second, key, memory)
  expect(session.offlineBecause).toBeUndefined()
  expect(status()).toMatchObject({ sensors: ['co2'] })
  await expect.poll(latest).toEqual({ co2: 612 })
  await say(topic, { serialno: 'ecda3bffff01', rco2: 700 })
  await expect.poll(latest).toEqual({ co2: 700 })
  await expect(openTestDevice(second, 'airgradient/unknown')).rejects.toThrow('Nothing has been heard from this sensor')
})

test('after a restart a value from before holds until the sensor says something else, and an occupied state until its off_delay', async () => {
  const { key, device, state } = await announce(
    { ...presence, off_delay: 0.5 },
    { component: 'binary_sensor', entityId: 'seat' },
  )
  const air = { state_topic: `air/${device}`, value_template: '{{ value_json.co2 }}' }
  await announce(air, { device, entityId: 'air' })
  const limits = { occupiedEveryMs: 40, othersEveryMs: 40 }
  const first = await open(limits)
  await say(state, 'yes')
  await say(`air/${device}`, { co2: 612 })
  await expect.poll(() => first.found.get(key)?.values?.co2).toBe(612)
  const memory = emptyMemory()
  await openTestDevice(first, key, memory)
  const saved = await until('it is saved', () => memory.saved as RememberedDevice | undefined)
  first.session.close()
  expect(saved.values).toMatchObject({ people: { offDelayMs: 500 }, co2: { value: 612 } })
  // As if it had been saved before the delay was over.
  memory.saved = { ...saved, values: { ...saved.values, people: { ...saved.values.people, value: 1 } } }
  const second = await open(limits)
  const { samples, latest } = await openTestDevice(second, key, memory)
  await expect.poll(latest).toEqual({ people: 0, co2: 612 })
  await say(`air/${device}`, { co2: 'unavailable' })
  await expect.poll(() => second.found.get(key)?.lastMessage).toContain('unavailable')
  const countBefore = samples.length
  await expect.poll(() => samples.length - countBefore).toBeGreaterThan(3)
  expect(new Set(samples.slice(countBefore).flatMap((sample) => Object.keys(sample)))).toEqual(
    new Set(['timestamp', 'people']),
  )
})

test('a retained value without a known age is shown, but not sent up', async () => {
  const { key, state } = await announce({})
  await retain(state, { co2: 612 })
  const source = await open({ othersEveryMs: 30 })
  await expect.poll(() => source.found.get(key)?.values).toEqual({ co2: 612 })
  const { samples } = await openTestDevice(source, key)
  await say(state, { co2: 613 })
  await expect.poll(() => samples.length).toBeGreaterThan(2)
  expect(new Set(samples.map(({ co2 }) => co2))).toEqual(new Set([613]))
})

test('an uplink that comes twice is one sample, and a simulated one is none', async () => {
  const uplink = (people: number, frame: number, more = {}) => ({
    end_device_ids: { device_id: 'twice', dev_eui: '24E124000000BB01' },
    uplink_message: { session_key_id: 'k', f_cnt: frame, decoded_payload: { n: people } },
    ...more,
  })
  const values = [{ sensor: 'people', template: 'value_json.n' }]
  const source = await open({}, { mappings: [{ format: 'things-stack', model: 'Counter', values }] })
  const topic = 'v3/app@tenant/devices/twice/up'
  await say(topic, uplink(1, 1))
  await expect.poll(() => source.found.has('things-stack/24E124000000BB01')).toBe(true)
  const { samples } = await openTestDevice(source, 'things-stack/24E124000000BB01')
  await say(topic, uplink(2, 2))
  await say(topic, uplink(2, 2))
  await say(topic, uplink(9, 3, { simulated: true }))
  await say(topic, uplink(4, 4))
  await expect.poll(() => samples.at(-1)?.people).toBe(4)
  expect(samples.map(({ people }) => people).filter((people) => people !== 1)).toEqual([2, 4])
})

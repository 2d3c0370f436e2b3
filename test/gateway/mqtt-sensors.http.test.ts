// Sensors at a real mosquitto, through a real gateway, in a real server: found, adopted, in the history, offline and unknown.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { minuteMs } from '../../src/contract/durations.ts'
import { usualMqttLimits } from '../../src/gateway/sources/mqtt/limits.ts'
import { MqttDriver } from '../../src/gateway/sources/mqtt/mqtt-driver.ts'
import { storedText } from '../support/database/stored-text.ts'
import { brokerPassword, brokerUser, startTestBroker } from '../support/drivers/mosquitto.ts'
import { folderContent, GatewayWorld } from '../support/gateway/gateway-world.ts'
import { SourceCalls } from '../support/gateway/source-calls.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { until } from '../support/program.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
})
afterAll(() => harness.close())

const quick = new MqttDriver({
  ...usualMqttLimits,
  tickMs: 50,
  foundAfterMs: 100,
  valuesEveryMs: 200,
  readingsEveryMs: 200,
})

test('a sensor is found, adopted, measured, offline when it says so, and unknown while its broker is away for an hour', async () => {
  const broker = await startTestBroker()
  onTestFinished(() => broker.stop())
  const client = await broker.connect()
  onTestFinished(() => void client.end(true))
  const retain = (topic: string, payload: unknown) =>
    client.publishAsync(topic, typeof payload === 'string' ? payload : JSON.stringify(payload), {
      qos: 1,
      retain: true,
    })
  const announce = async () => {
    const entity = {
      stat_t: 'room4/state',
      avty_t: 'room4/status',
      dev: { ids: 'a4cf12000004', name: 'Room 4', mf: 'Espressif', mdl: 'esp32dev', sn: 'E2E-0004' },
    }
    await retain('homeassistant/sensor/room4/co2/config', {
      ...entity,
      dev_cla: 'carbon_dioxide',
      unit_of_meas: 'ppm',
      val_tpl: '{{ value_json.co2 }}',
      uniq_id: 'room4_co2',
    })
    await retain('homeassistant/binary_sensor/room4/seat/config', {
      ...entity,
      dev_cla: 'occupancy',
      val_tpl: '{{ value_json.seat }}',
      pl_on: true,
      pl_off: false,
      uniq_id: 'room4_seat',
    })
    await retain('homeassistant/sensor/room4/battery/config', {
      ...entity,
      dev_cla: 'battery',
      unit_of_meas: '%',
      val_tpl: '{{ value_json.bat }}',
      uniq_id: 'room4_bat',
    })
    await retain('room4/status', 'online')
  }
  await announce()
  const world = await GatewayWorld.start(harness, org, { sources: { mqtt: async () => quick } })
  const calls = new SourceCalls(org.call, world.id, world.roomId)
  const created = await org.call('POST', '/sources', {
    body: {
      type: 'mqtt',
      gatewayId: world.id,
      url: `mqtts://127.0.0.1:${broker.mutualPort}`,
      authority: broker.cert,
      clientCertificate: broker.client.cert,
      clientKey: broker.client.key,
      username: brokerUser,
      secret: brokerPassword,
    },
  })
  expect(created.status, created.text).toBe(200)
  const { id } = created.body
  await calls.isInState(id, 'CONNECTED')
  const key = 'ha/a4cf12000004'
  const [endpointId = ''] = await calls.adopt(id, [key])
  const endpoint = () => world.endpoint(endpointId)
  expect(await endpoint()).toMatchObject({
    model: 'esp32dev',
    manufacturer: 'Espressif',
    serial: 'Espressif E2E-0004',
    sourceType: 'mqtt',
    actions: [],
    kind: 'SENSOR',
  })
  await client.publishAsync('room4/state', JSON.stringify({ co2: 612, seat: true, bat: 77 }), { qos: 1 })
  await until('the sample is there', async () => {
    const { body } = await org.call('GET', `/endpoints/${endpointId}/sensor`)
    return JSON.stringify(body).includes('"co2":612')
  })
  expect(await calls.device(id, key)).toMatchObject({ state: 'ADOPTED', format: 'home-assistant' })
  // A presence sensor says 0 or 1, and what has no field is a reading.
  await until('the battery is a reading', async () => (await endpoint()).readings?.length > 0)
  expect(await endpoint()).toMatchObject({
    peopleIs: 'PRESENCE',
    sensors: ['co2', 'people'],
    readings: [{ name: expect.stringMatching(/battery/i), value: 77, unit: '%' }],
  })
  const { rooms } = (await org.call('GET', `/rooms?ids=${world.roomId}`)).body
  expect(rooms).toMatchObject([{ people: 1, peopleIs: 'PRESENCE' }])
  await retain('room4/status', 'offline')
  await until('it is not connected', async () => (await endpoint()).connected === false)
  await expect
    .poll(async () => (await calls.device(id, key)).reason)
    .toBe('Its publisher says that it is offline (room4/status).')
  await retain('room4/status', 'online')
  await until('it is connected again', async () => (await endpoint()).connected === true)
  // The broker goes away for an hour: one incident, and nothing is deleted.
  harness.clock.advance(10 * minuteMs)
  await broker.kill()
  await calls.isInState(id, 'UNREACHABLE')
  await until('it is unknown', async () => (await endpoint()).state === 'UNKNOWN')
  const openRules = async () =>
    (await org.call('GET', '/incidents?state=OPEN')).body.incidents.map(({ rule }: { rule: string }) => rule)
  for (let minutes = 0; minutes < 60; minutes += 12) {
    harness.clock.advance(12 * minuteMs)
    await until('the incident is open', async () => (await openRules()).length > 0)
  }
  expect(await openRules()).toEqual(['source.failing'])
  expect(await endpoint()).toMatchObject({ state: 'UNKNOWN', sourceType: 'mqtt' })
  expect(await calls.source(id)).toMatchObject({ devices: { FOUND: 0, ADOPTED: 1, EXCLUDED: 0, missing: 0 } })
  await broker.start()
  await announce()
  await calls.isInState(id, 'CONNECTED')
  await until('it is back', async () => (await endpoint()).connected === true)
  await until('the incident is over', async () => {
    harness.clock.advance(minuteMs)
    return (await openRules()).length === 0
  })
  const texts = [
    world.running.lines.join('\n'),
    folderContent(world.folder),
    (await org.call('GET', '/sources')).text,
    await storedText(harness),
    JSON.stringify(harness.logged),
  ]
  const keyLines = broker.client.key.split('\n').filter((line) => line.length > 30 && !line.startsWith('-----'))
  expect(keyLines.length).toBeGreaterThan(1)
  for (const planted of [brokerPassword, ...keyLines])
    expect(texts.filter((text) => text.includes(planted))).toEqual([])
  expect(texts.filter((text) => text.includes(id)).length).toBeGreaterThanOrEqual(2)
})

// Sensors at a real mosquitto, through a real gateway, in a real server: found, adopted, in the history, offline and unknown.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { usualMqttLimits } from '../../src/gateway/sources/mqtt/limits.ts'
import { MqttDriver } from '../../src/gateway/sources/mqtt/mqtt-driver.ts'
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

const quick = new MqttDriver({ ...usualMqttLimits, tickMs: 50, foundAfterMs: 100, valuesEveryMs: 200 })

test('a sensor is found, adopted, measured, offline when it says so, and unknown while its broker is away', async () => {
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
    await retain('room4/status', 'online')
  }
  await announce()
  const world = await GatewayWorld.start(harness, org, { sources: { mqtt: async () => quick } })
  const calls = new SourceCalls(org.call, world.id, world.roomId)
  const created = await org.call('POST', '/sources', {
    body: {
      type: 'mqtt',
      gatewayId: world.id,
      url: `mqtts://127.0.0.1:${broker.tlsPort}`,
      authority: broker.cert,
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
  await client.publishAsync('room4/state', JSON.stringify({ co2: 612, seat: true }), { qos: 1 })
  await until('the sample is there', async () => {
    const { body } = await org.call('GET', `/endpoints/${endpointId}/sensor`)
    return JSON.stringify(body).includes('"co2":612')
  })
  expect(await calls.device(id, key)).toMatchObject({ state: 'ADOPTED', format: 'home-assistant' })
  await retain('room4/status', 'offline')
  await until('it is not connected', async () => (await endpoint()).connected === false)
  await expect
    .poll(async () => (await calls.device(id, key)).reason)
    .toBe('Its publisher says that it is offline (room4/status).')
  await retain('room4/status', 'online')
  await until('it is connected again', async () => (await endpoint()).connected === true)
  await broker.kill()
  await calls.isInState(id, 'UNREACHABLE')
  await until('it is unknown', async () => (await endpoint()).state === 'UNKNOWN')
  await broker.start()
  await announce()
  await calls.isInState(id, 'CONNECTED')
  await until('it is back', async () => (await endpoint()).connected === true)
  const texts = [world.running.lines.join('\n'), folderContent(world.folder), (await org.call('GET', '/sources')).text]
  expect(texts.filter((text) => text.includes(brokerPassword))).toEqual([])
})

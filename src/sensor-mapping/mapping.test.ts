// Mappings of messages to sensors: LoRaWAN uplinks, other JSON, units, ranges, times and identifiers.
import { expect, test } from 'vitest'
import type { SensorMapping } from '../contract/fleet/sources.ts'
import { matches, previewMapping, problemsOf, readableMapping } from './mapping.ts'
import { converterOf, unitNamesOf } from './units.ts'

type Values = SensorMapping['values']
const people: Values = [{ sensor: 'people', template: 'value_json.people_count_all' }]
const preview = (mapping: Partial<SensorMapping>, payload: unknown, topic = 'v3/app1@tenant1/devices/vs121-4/up') =>
  previewMapping(
    { format: 'json', model: 'VS121', values: people, ...mapping },
    { topic, payload: typeof payload === 'string' ? payload : JSON.stringify(payload) },
  )

const thingsStack = {
  end_device_ids: { device_id: 'vs121-4', dev_eui: '24E124000000AA04', application_ids: { application_id: 'app1' } },
  received_at: '2026-11-17T10:00:00.112233445Z',
  uplink_message: {
    session_key_id: 'AYfg8rhha5n+FWx0ZaAprA==',
    f_port: 85,
    f_cnt: 17,
    decoded_payload: { people_count_all: 3, region_1: 2 },
    version_ids: { brand_id: 'milesight-iot', model_id: 'vs121' },
  },
}
const chirpStack = {
  deduplicationId: '3ac7e3c4-4401-4b8d-9386-a5c902f9202d',
  time: '2026-11-17T10:00:00.1+00:00',
  deviceInfo: { devEui: '24e124000000aa04', deviceName: 'Counter 4', deviceProfileName: 'Milesight VS121' },
  fPort: 85,
  object: { people_count_all: 3 },
}

test('an uplink of The Things Stack yields its device, its time and the values of its decoded payload', () => {
  expect(preview({ format: 'things-stack' }, thingsStack)).toEqual({
    device: '24E124000000AA04',
    uplink: expect.objectContaining({
      name: 'vs121-4',
      profile: 'milesight-iot vs121',
      uplinkId: 'AYfg8rhha5n+FWx0ZaAprA== 17',
      isSimulated: false,
    }),
    measuredAtMs: Date.UTC(2026, 10, 17, 10, 0, 0, 112),
    values: [{ sensor: 'people', text: '3', value: 3 }],
    problems: [],
  })
})

test('an uplink of ChirpStack yields its device, its time and the values of its object', () => {
  expect(preview({ format: 'chirpstack' }, chirpStack)).toEqual({
    device: '24E124000000AA04',
    uplink: expect.objectContaining({
      name: 'Counter 4',
      profile: 'Milesight VS121',
      uplinkId: chirpStack.deduplicationId,
    }),
    measuredAtMs: Date.UTC(2026, 10, 17, 10, 0, 0, 100),
    values: [{ sensor: 'people', text: '3', value: 3 }],
    problems: [],
  })
})

test('an uplink without a decoded payload says what to do in its server', () => {
  const { object, ...without } = chirpStack
  expect(preview({ format: 'chirpstack' }, without).problems).toEqual([
    'The message has no decoded payload. Give the device a payload decoder in ChirpStack.',
  ])
  expect(object).toBeDefined()
  expect(preview({ format: 'chirpstack' }, thingsStack).problems).toEqual([
    'The message is not an uplink of ChirpStack.',
  ])
  expect(preview({ format: 'things-stack' }, '<html>').problems).toEqual(['The message is not JSON: <html>'])
})

test('other JSON is identified by a value, by a level of its topic, or by its topic', () => {
  const message = { serial: 'A-17', people_count_all: 0 }
  expect(preview({ device: 'value_json.serial' }, message).device).toBe('A-17')
  expect(preview({ device: 'topic[3]' }, message).device).toBe('vs121-4')
  expect(preview({}, message).device).toBe('v3/app1@tenant1/devices/vs121-4/up')
  expect(preview({ device: 'value_json.id' }, message)).toMatchObject({
    problems: ['The message has no value that identifies its device.'],
    values: [{ sensor: 'people', value: 0 }],
  })
})

test.each([
  ['2026-11-17T10:00:00Z', Date.UTC(2026, 10, 17, 10)],
  ['2026-11-17T11:00:00.5+01:00', Date.UTC(2026, 10, 17, 10, 0, 0, 500)],
  [1_794_996_000, 1_794_996_000_000],
  ['1794996000.25', 1_794_996_000_250],
  [1_794_996_000_123, 1_794_996_000_123],
  ['2026-11-17T10:00:00', undefined],
  ['yesterday', undefined],
  [true, undefined],
  [-5, undefined],
  [1e30, undefined],
])('the time %j is %j, and a time without a zone is refused', (t, measuredAtMs) => {
  const read = preview({ time: 'value_json.t' }, { t, people_count_all: 1 })
  expect(read.measuredAtMs).toBe(measuredAtMs)
  expect(read.problems).toHaveLength(measuredAtMs === undefined ? 1 : 0)
  expect(read.values[0]?.value).toBe(1)
})

test.each([
  ['temp', 70.52, '°F', 21.4],
  ['temp', 70.52, '℉', 21.4],
  ['temp', 294.55, 'K', 21.4],
  ['temp', 21.4, '°C', 21.4],
  ['temp', '21.4', undefined, 21.4],
  ['co2', 612_000, 'ppb', 612],
  ['co2', 0.0612, '%', 612],
  ['voc', 0.245, 'ppm', 245],
  ['voc', 245, 'PPB', 245],
  ['illumination', 1.2, 'klx', 1200],
  ['humidity', 44, '%', 44],
  ['presence', true, undefined, 1],
  ['presence', 'OFF', undefined, 0],
  ['presence', 3, undefined, 1],
] as const)('%s %j %s is %j', (sensor, v, unit, expected) => {
  const read = preview({ values: [{ sensor, template: 'value_json.v', ...(unit && { unit }) }] }, { v })
  expect(read.values[0]?.value).toBe(expected)
})

test.each([
  ['temp', 21.4, 'mg/m³', 'The unit mg/m³ is not known. Known units: °C, C, °F, F, K.'],
  ['voc', 0.2, 'mg/m³', 'The unit mg/m³ is not known. Known units: ppb, ppm.'],
  ['co2', 1.1, 'µg/m³', 'The unit µg/m³ is not known. Known units: ppm, ppb, %.'],
  ['presence', 1, 'ppm', 'The unit ppm is not known.'],
  ['temp', 327.67, '°C', '327.67 °C is outside the range from -40 to 85.'],
  ['humidity', -1, '%', '-1 %rH is outside the range from 0 to 100.'],
  ['people', 2.5, undefined, '2.5 is not a whole number of people.'],
  ['co2', '612 ppm', undefined, 'Not a number: 612 ppm'],
  ['co2', true, undefined, 'Not a number: true'],
  ['presence', 'perhaps', undefined, 'Not a presence: perhaps'],
] as const)('%s %j %s is refused: %s', (sensor, v, unit, problem) => {
  const read = preview({ values: [{ sensor, template: 'value_json.v', ...(unit && { unit }) }] }, { v })
  expect(read.values[0]).toMatchObject({ sensor, problem })
  expect(read.values[0]?.value).toBeUndefined()
})

test('a message that cannot be read still shows which templates and units of the mapping are wrong', () => {
  const values: Values = [
    { sensor: 'temp', template: 'value_json.t * 10' },
    { sensor: 'co2', template: 'value_json.co2', unit: 'furlongs' },
  ]
  const expected = ['Not understood: value_json.t * 10', 'The unit furlongs is not known. Known units: ppm, ppb, %.']
  expect(preview({ format: 'chirpstack', values }, 'x').values.map(({ problem }) => problem)).toEqual(expected)
  expect(problemsOf(readableMapping({ format: 'json', model: 'x', values }))).toEqual(expected)
})

test('a mapping is for devices whose profile or identifier contains its text', () => {
  const mapping: SensorMapping = { format: 'chirpstack', model: 'VS121', match: 'vs121', values: people }
  expect(matches(mapping, 'Milesight VS121', '24E1')).toBe(true)
  expect(matches(mapping, 'Milesight EM500', undefined)).toBe(false)
  expect(matches({ ...mapping, match: undefined } as never, 'anything')).toBe(true)
})

test('every unit that a form offers is known, and the first one needs no conversion', () => {
  for (const sensor of ['co2', 'humidity', 'illumination', 'people', 'temp', 'voc', 'vocIndex'] as const) {
    expect(unitNamesOf(sensor).filter((unit) => !converterOf(sensor, unit))).toEqual([])
    expect(converterOf(sensor, unitNamesOf(sensor)[0])?.(17)).toBe(17)
  }
  expect(unitNamesOf('presence')).toEqual([])
})

// Tests the sample of a room that the console computes from events. [contract 5.2.aggregate]
import { expect, test } from 'vitest'
import { type Sensor, sensors } from '../../contract/device/models.ts'
import { aggregateSamples, type MeasuredSample } from './room-aggregate.ts'

const nothing = { co2: 0, humidity: 0, illumination: 0, people: 0, temp: 0, voc: 0, vocIndex: 0, timestamp: '100' }
/** The sample of a device that measured the given values. */
const sample = (values: Partial<MeasuredSample['sample']>, isPresenceOnly = false): MeasuredSample => ({
  sample: { ...nothing, ...values },
  measured: (Object.keys(values) as Sensor[]).filter((name) => sensors.includes(name)),
  isPresenceOnly,
})

test('people is the maximum, other values are means of the devices that measured them', () => {
  const { data, measured } = aggregateSamples([
    sample({ co2: 800, temp: 21.5, people: 3, timestamp: '160' }),
    sample({ co2: 905, temp: 22, timestamp: '130' }),
    sample({ people: 5 }),
  ])
  const { sample: expected } = sample({ co2: 853, temp: 21.8, people: 5, timestamp: '160', ShutterClosed: false })
  expect(data).toEqual([expected])
  expect(measured).toEqual(['co2', 'people', 'temp'])
})

test('a value that was not measured does not count, and a measured 0 does [contract 5.2.measured]', () => {
  const { data, measured } = aggregateSamples([sample({ co2: 800, temp: 20 }), sample({ temp: 0 })])
  expect(data[0]).toMatchObject({ co2: 800, temp: 10, people: 0, voc: 0 })
  expect(measured).toEqual(['co2', 'temp'])
})

test('presence is a head count only if a device that counts saw as many [contract 5.2.aggregate]', () => {
  const peopleIs = (...samples: MeasuredSample[]) => {
    const { data, peopleIs } = aggregateSamples(samples)
    return [data[0]?.people, peopleIs]
  }
  expect(peopleIs(sample({ people: 1 }, true))).toEqual([1, 'PRESENCE'])
  expect(peopleIs(sample({ people: 1 }, true), sample({ people: 4 }))).toEqual([4, undefined])
  expect(peopleIs(sample({ people: 1 }, true), sample({ people: 0 }))).toEqual([1, 'PRESENCE'])
  expect(peopleIs(sample({ people: 0 }, true), sample({ people: 0 }))).toEqual([0, undefined])
})

test('the shutter is closed if that of any Frame is', () => {
  const samples = [true, false].map((ShutterClosed) => sample({ ShutterClosed }))
  expect(aggregateSamples(samples).shutterClosed).toBe(true)
})

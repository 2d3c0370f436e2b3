// Tests the sample of a room that the console computes from events. [contract 5.2.aggregate]
import { expect, test } from 'vitest'
import { aggregateSamples, type EventSample } from './room-aggregate.ts'

const sample = (values: Partial<EventSample>): EventSample => ({
  ...{ co2: 0, humidity: 0, illumination: 0, people: 0, temp: 0, voc: 0, vocIndex: 0, timestamp: '100' },
  ...values,
})
const [bar, pad, center] = ['NF19B1', 'NF19A1', 'NF23L1']

test('people is the maximum, other values are means of the devices that measured them', () => {
  const { data } = aggregateSamples([
    { model: bar, sample: sample({ co2: 800, temp: 21.5, people: 3, timestamp: '160' }) },
    { model: pad, sample: sample({ co2: 905, temp: 22, timestamp: '130' }) },
    { model: center, sample: sample({ people: 5, temp: 40 }) },
  ])
  expect(data).toEqual([{ ...sample({ co2: 853, temp: 21.8, people: 5, timestamp: '160' }), ShutterClosed: false }])
})

test('a value of 0 is not a measurement of air, but an empty room has 0 people', () => {
  const { data } = aggregateSamples([
    { model: bar, sample: sample({ co2: 800, temp: 21.5 }) },
    { model: pad, sample: sample({}) },
  ])
  expect(data[0]).toMatchObject({ co2: 800, temp: 21.5, people: 0, voc: 0 })
})

test('the shutter is closed if that of any Frame is', () => {
  const frame = 'NF21F1'
  const samples = [true, false].map((ShutterClosed) => ({ model: frame, sample: sample({ ShutterClosed }) }))
  expect(aggregateSamples(samples).shutterClosed).toBe(true)
})

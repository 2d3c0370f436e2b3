// Checks which values of a sample are readings, and how people are written.
import { expect, test } from 'vitest'
import { isReading, peopleText } from './readings.ts'

const nothing = { co2: 0, humidity: 0, illumination: 0, people: 0, temp: 0, voc: 0, vocIndex: 0, timestamp: '0' }

test('a value that was not measured is not a reading; a measured 0 is one, except of CO₂ and humidity [contract 5.2.measured]', () => {
  const sample = { data: [{ ...nothing, voc: 90 }], shutterClosed: false, measured: ['people', 'voc', 'co2'] as const }
  const data = { ...sample, measured: [...sample.measured] }
  expect(isReading('people', data), 'an empty room').toBe(true)
  expect(isReading('voc', data)).toBe(true)
  expect(isReading('temp', data), 'no device measures it').toBe(false)
  expect(isReading('co2', data), 'a sensor that is broken').toBe(false)
})

test('the presence of people is not written as a number of people', () => {
  expect([peopleText(1, 'PRESENCE'), peopleText(0, 'PRESENCE')]).toEqual(['In use', 'Empty'])
  expect([peopleText(1, undefined), peopleText(0, 'COUNT'), peopleText(1200, 'COUNT')]).toEqual(['1', '0', '1,200'])
})

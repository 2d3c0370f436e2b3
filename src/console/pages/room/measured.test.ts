// What of a room's sample was measured: 0 of a sensor that nobody has is not a value.
import { expect, test } from 'vitest'
import { isReal, sensorsIn } from './measured.ts'

const pad = { model: 'NF19A1', connected: true }
const frame = { model: 'NF21F1', connected: false }

test('a room has the sensors of all its devices, and those of the connected ones now', () => {
  const { sensors, connectedSensors, hasShutter } = sensorsIn([pad, frame])
  expect(sensors).toEqual(['co2', 'voc', 'vocIndex', 'temp', 'humidity', 'illumination', 'people'])
  expect([...connectedSensors].sort()).toEqual(['co2', 'humidity', 'temp', 'voc'])
  expect(hasShutter).toBe(true)
  expect(sensorsIn([pad]).hasShutter).toBe(false)
})

test('0 is a value only where it can be one, of a sensor that is there', () => {
  const { connectedSensors } = sensorsIn([pad, frame])
  expect(isReal('people', 0, connectedSensors), 'only the frame counts people, and it is offline').toBe(false)
  expect(isReal('people', 0, new Set(['people']))).toBe(true)
  expect(isReal('people', 3, connectedSensors), 'a sample of before it went').toBe(true)
  expect(isReal('co2', 0, connectedSensors)).toBe(false)
})

// Checks which values of a room sample are readings: 0 from a missing sensor is not one.
import { expect, test } from 'vitest'
import { isReading, roomSensors } from './room-sensors.ts'

const pad = { model: 'NF19A1', connected: true }
const frame = { model: 'NF21F1', connected: false }

test('a room has the sensors of all its devices, and the connected sensors are those of connected devices', () => {
  const { sensors, connectedSensors, hasShutter } = roomSensors([pad, frame])
  expect(sensors).toEqual(['co2', 'voc', 'vocIndex', 'temp', 'humidity', 'illumination', 'people'])
  expect([...connectedSensors].sort()).toEqual(['co2', 'humidity', 'temp', 'voc'])
  expect(hasShutter).toBe(true)
  expect(roomSensors([pad]).hasShutter).toBe(false)
})

test('0 is a reading only if the sensor can read 0 and is connected', () => {
  const { connectedSensors } = roomSensors([pad, frame])
  expect(isReading('people', 0, connectedSensors), 'only the frame counts people, and it is offline').toBe(false)
  expect(isReading('people', 0, new Set(['people']))).toBe(true)
  expect(isReading('people', 3, connectedSensors), 'a sample from before the device went offline').toBe(true)
  expect(isReading('co2', 0, connectedSensors)).toBe(false)
})

// Checks which sensors a room has: those of its models, and those that other devices name or have sent.
import { expect, test } from 'vitest'
import { roomSensors } from './room-sensors.ts'

const pad = { model: 'NF19A1' }
const frame = { model: 'NF21F1' }

test('a room has the sensors of all its devices', () => {
  const { sensors, hasShutter } = roomSensors([pad, frame])
  expect(sensors).toEqual(['co2', 'voc', 'vocIndex', 'temp', 'humidity', 'illumination', 'people'])
  expect(hasShutter).toBe(true)
  expect(roomSensors([pad]).hasShutter).toBe(false)
})

test('a device of an unknown model has only what its answer lists [contract 5.1.models]', () => {
  expect(roomSensors([{ model: 'PROJECTOR' }]).sensors).toEqual([])
  expect(roomSensors([{ model: 'PROJECTOR' }, { model: 'AIR', sensors: ['co2'] }]).sensors).toEqual(['co2'])
})

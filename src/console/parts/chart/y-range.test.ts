// Tests the vertical range of a chart.
import { expect, test } from 'vitest'
import { sensorScales, yRange } from './y-range.ts'

const { co2, people } = sensorScales

test('a limit that is near is in sight, one that is far is not', () => {
  const [, near] = yRange(500, 800, co2, { max: 1400 })
  expect(near).toBeGreaterThan(1400)
  const [, far] = yRange(400, 450, co2, { max: 2500 })
  expect(far).toBeLessThan(2500)
})

test('usual values have one scale in all rooms; others widen it', () => {
  expect(yRange(420, 421, co2)).toEqual(yRange(500, 800, co2))
  const [low, high] = yRange(390, 1900, co2)
  expect(low).toBeLessThan(390)
  expect(high).toBeGreaterThan(1900)
})

test('people are counted from nought', () => {
  expect(yRange(3, 9, people)[0]).toBe(0)
  expect(yRange(null, null, people)).toEqual([0, 1])
})

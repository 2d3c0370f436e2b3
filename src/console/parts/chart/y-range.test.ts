// Tests the vertical range of a chart.
import { expect, test } from 'vitest'
import { sensorScales, yRange } from './y-range.ts'

const { co2, people } = sensorScales

test('a limit that is near is in sight, one that is far is not', () => {
  const [, near] = yRange(500, 800, co2, { max: 1000 })
  expect(near).toBeGreaterThan(1000)
  const [, far] = yRange(400, 450, co2, { max: 1000 })
  expect(far).toBeLessThan(1000)
})

test('a line that hardly moves does not fill the height', () => {
  const [low, high] = yRange(420, 421, co2)
  expect(high - low).toBeGreaterThanOrEqual(co2.minSpan)
})

test('people are counted from nought', () => {
  expect(yRange(3, 9, people)[0]).toBe(0)
  expect(yRange(null, null, people)).toEqual([0, 1])
})

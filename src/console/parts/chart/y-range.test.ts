// The height of a chart: noise stays small, near limits are in sight, far ones are not.
import { expect, test } from 'vitest'
import { heightOf, sensorScales } from './y-range.ts'

const { co2, people } = sensorScales

test('a limit that is near is in sight, one that is far is not', () => {
  const [, near] = heightOf(500, 800, co2, { max: 1000 })
  expect(near).toBeGreaterThan(1000)
  const [, far] = heightOf(400, 450, co2, { max: 1000 })
  expect(far).toBeLessThan(1000)
})

test('what hardly moves does not fill the height', () => {
  const [low, high] = heightOf(420, 421, co2)
  expect(high - low).toBeGreaterThanOrEqual(co2.leastHeight)
})

test('people are counted from nought', () => {
  expect(heightOf(3, 9, people)[0]).toBe(0)
  expect(heightOf(null, null, people)).toEqual([0, 1])
})

// Tests which air values are outliers, and how values and limits are written.
import { expect, test } from 'vitest'
import { sensorValueText } from '../../../contract/device/sensor-texts.ts'
import { defaultAirLimits } from '../../../contract/journal/orgs.ts'
import { type AirSample, airOutliers, distanceBeyondLimit, limitText } from './air.ts'

const good: AirSample = { co2: 600, voc: 300, temp: 21.5, humidity: 40 }
const found = (sample: Partial<AirSample>, limits = defaultAirLimits) => airOutliers({ ...good, ...sample }, limits)

test('a value on its limit is inside, one beyond it is an outlier that names the limit', () => {
  expect(found({ co2: 1000, voc: 2000, temp: 27, humidity: 25 })).toEqual([])
  expect(found({ co2: 1001 })).toEqual([{ sensor: 'co2', value: 1001, limit: 1000 }])
  expect(found({ temp: 17.9, humidity: 65.1 })).toEqual([
    { sensor: 'temp', value: 17.9, limit: 18 },
    { sensor: 'humidity', value: 65.1, limit: 65 },
  ])
})

test('a sensor that is not there is no outlier, although its value is 0 [contract 5.2]', () => {
  expect(found({ co2: 0, voc: 0, temp: 0, humidity: 0 })).toEqual([])
  expect(found({ temp: -0.1 })).toHaveLength(1)
})

test('without a limit nothing is beyond it', () => {
  const limits = { ...defaultAirLimits, temp: {}, co2: { max: 500 } }
  expect(found({ temp: 80 }, limits)).toEqual([{ sensor: 'co2', value: 600, limit: 500 }])
  expect(limitText('temp', limits)).toBeUndefined()
})

test('too cold is as bad as too warm by the same degrees', () => {
  const [cold, warm] = [...found({ temp: 16 }), ...found({ temp: 29 })].map(distanceBeyondLimit)
  expect(cold).toBe(2)
  expect(warm).toBe(2)
})

test('values and limits are told with their units', () => {
  expect(sensorValueText('co2', 1240)).toBe('1,240 ppm')
  expect(sensorValueText('temp', 21)).toBe('21.0 °C')
  expect(sensorValueText('people', 3)).toBe('3')
  expect(limitText('co2', defaultAirLimits)).toBe('over 1,000\u00a0ppm')
  expect(limitText('humidity', defaultAirLimits)).toBe('under 25 or over 65\u00a0%')
})

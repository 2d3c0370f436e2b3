// Tests that numbers of settings survive the way into the unit in which they are shown, and back.
import { expect, test } from 'vitest'
import { configKeys } from '../../../contract/device/config-keys.ts'
import { minutes, seconds, unitOf } from './setting-units.ts'
import { valueText } from './setting-values.ts'
import { settingProblems } from './validation.ts'

const { brightness, screenStandby, layoutMaxPersons } = configKeys
if (!brightness || !screenStandby || !layoutMaxPersons) throw new Error('a key is missing')

test('every per cent is stored as the nearest number, and shown again as it was entered', () => {
  const percent = unitOf(brightness, undefined)
  for (let hundredths = 0; hundredths <= 10_000; hundredths++) {
    const shown = hundredths / 100
    const stored = percent?.toStored(shown) ?? Number.NaN
    expect(stored).toBe(Number(`${hundredths}e-4`))
    expect(percent?.fromStored(stored)).toBe(shown)
  }
})

test('every time with three decimals is a whole number of milliseconds, and shown again as it was entered', () => {
  for (const unit of [minutes, seconds]) {
    for (let thousandths = 0; thousandths <= 20_000; thousandths++) {
      const shown = thousandths / 1000
      const stored = unit.toStored(shown)
      expect(Number.isInteger(stored)).toBe(true)
      expect(unit.fromStored(stored)).toBe(shown)
    }
  }
})

test('a time is shown in minutes if it is whole minutes, else in seconds', () => {
  expect(unitOf(screenStandby, 600_000)).toBe(minutes)
  expect(unitOf(screenStandby, 90_000)).toBe(seconds)
  expect(unitOf(screenStandby, undefined)).toBe(minutes)
  expect(unitOf(layoutMaxPersons, 4)).toBeUndefined()
})

test.each([
  ['brightness', 0.4, '40 %'],
  ['brightness', 0.57, '57 %'],
  ['brightness', 0.125, '12.5 %'],
  ['screenStandby', 600_000, '10 min'],
  ['screenStandby', 7_200_000, '120 min'],
  ['screenStandby', 90_000, '90 s'],
  ['screenStandby', 1500, '1.5 s'],
  ['screenStandby', 0, '0 min'],
  ['layoutMaxPersons', 4, '4'],
])('%s %d is shown as "%s"', (name, value, text) => {
  expect(valueText(name, value)).toBe(text)
})

test('a limit is said in the unit of the field', () => {
  expect(settingProblems({ brightness: 1.01, screenStandby: 2 ** 31, layoutMaxPersons: 2 ** 31 })).toEqual({
    brightness: 'Maximum is 100 %.',
    screenStandby: 'Maximum is 35,791 minutes (2,147,483 seconds).',
    layoutMaxPersons: 'Maximum is 2147483647.',
  })
  expect(settingProblems({ brightness: -0.01 })).toEqual({ brightness: 'Minimum is 0 %.' })
})

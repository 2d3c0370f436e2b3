// The option --air-limits: the texts it accepts, and its messages for mistakes.
import { expect, test } from 'vitest'
import { defaultAirLimits } from '../../contract/journal/orgs.ts'
import { airLimitsText, parseAirLimits } from './air-limits.ts'

test.each([
  ['co2=..800', { co2: { max: 800 } }],
  ['temp=19.5..25', { temp: { min: 19.5, max: 25 } }],
  ['temp=-5..', { temp: { min: -5 } }],
  ['voc=off, humidity = 30..60 ', { voc: {}, humidity: { min: 30, max: 60 } }],
  [
    'co2=..1,voc=..2,temp=3..,humidity=4..5',
    { co2: { max: 1 }, voc: { max: 2 }, temp: { min: 3 }, humidity: { min: 4, max: 5 } },
  ],
])('%s changes the limits that it names and no others', (text, changed) => {
  expect(parseAirLimits(text)).toEqual({ ...defaultAirLimits, ...changed })
})

test('the default in the help text is parsed as the default limits', () => {
  expect(airLimitsText(defaultAirLimits)).toBe('co2=..1000,voc=..2000,temp=18..27,humidity=25..65')
  const other = { ...defaultAirLimits, co2: {}, temp: { min: -5.5 } }
  expect(parseAirLimits(airLimitsText(other))).toEqual(other)
})

test.each([
  ['', '"" names none of co2, voc, temp, humidity'],
  ['people=..5', '"people=..5" names none of'],
  ['__proto__=..5', 'names none of'],
  ['co2', '"co2" names none of'],
  ['co2=..800,', '"" names none of'],
  ['co2=..800,co2=off', 'co2 is there twice'],
  ['co2=800', '"800" of co2 is not a range'],
  ['co2=..', '".." of co2 is not a range'],
  ['co2=..1e3', '"..1e3" of co2 is not a range'],
  ['temp=27..18', 'the range 27..18 of temp ends before it begins'],
  ['temp=18..18', 'ends before it begins'],
])('%j is refused with a sentence', (text, why) => {
  expect(() => parseAirLimits(text)).toThrow(`--air-limits must be ranges such as`)
  expect(() => parseAirLimits(text)).toThrow(why)
})

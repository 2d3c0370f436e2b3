// Tests how filters with several values are written in the address, and what they match.
import { expect, test } from 'vitest'
import { filterTests, formatFilter, parseFilter, toggleValue } from './filter-value.ts'

test('one value, several values and excluded values are written and read, whatever characters they have', () => {
  for (const values of [['2'], ['2', '5'], ['!x', '%2C', '50%', 'a,b']]) {
    for (const isNot of [false, true]) expect(parseFilter(formatFilter({ values, isNot }))).toEqual({ values, isNot })
  }
  expect(formatFilter({ values: ['2', '5'], isNot: true })).toBe('!2,5')
  expect(formatFilter({ values: ['5', '2'], isNot: false }), 'the order of clicks does not matter').toBe('2,5')
  expect(formatFilter({ values: [], isNot: true })).toBeUndefined()
  expect(parseFilter(undefined)).toEqual({ values: [], isNot: false })
  expect(parseFilter('50%')).toEqual({ values: ['50%'], isNot: false })
})

test('a value that is chosen again is taken back', () => {
  const both = toggleValue(toggleValue(parseFilter(undefined), '1'), '2')
  expect(formatFilter(both)).toBe('1,2')
  expect(formatFilter(toggleValue(both, '1'))).toBe('2')
})

test('a row needs one of the values, or none of them; unknown values filter nothing', () => {
  const rows = ['a', 'b', 'c']
  const isKnown = (value: string): value is string => value !== 'mistyped'
  const shown = (text: string | undefined) =>
    rows.filter((row) => filterTests<string>(text, (one, value) => one === value, isKnown).every((test) => test(row)))
  expect(shown('a')).toEqual(['a'])
  expect(shown('a,c')).toEqual(['a', 'c'])
  expect(shown('!a')).toEqual(['b', 'c'])
  expect(shown('!a,b')).toEqual(['c'])
  expect(shown('mistyped')).toEqual(rows)
  expect(shown('!mistyped,a')).toEqual(['b', 'c'])
  expect(shown(undefined)).toEqual(rows)
})

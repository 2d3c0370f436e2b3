// Tests which Accept headers ask for CSV.
import { expect, test } from 'vitest'
import { acceptsCsv } from './accept-header.ts'

test.each([
  ['text/csv', true],
  ['Text/CSV; charset=utf-8', true],
  ['text/html, text/csv;q=0.5, */*;q=0.1', true],
  ['application/json;q=0, text/csv', true],
  ['application/json, text/csv', false],
  ['text/csv;q=0', false],
  ['text/csv; q=0.000, */*', false],
  ['text/csv-schema', false],
  ['*/*', false],
  ['', false],
  [undefined, false],
])('Accept: %s asks for CSV: %s', (accept, expected) => {
  expect(acceptsCsv(accept)).toBe(expected)
})

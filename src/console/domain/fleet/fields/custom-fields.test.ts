// Tests what the console makes of custom fields: names, filters, columns, and what an edit sends.
import { expect, test } from 'vitest'
import { rowsCsv } from '../../../parts/table/export-rows.ts'
import {
  areLinesValid,
  customFieldNames,
  customFieldTexts,
  fieldChanges,
  fieldColumns,
  fieldLines,
  fieldMatcher,
  lineProblem,
} from './custom-fields.ts'

const rows = [{ fields: { wall: 'B2', owner: 'Ada' } }, {}, { fields: { wall: 'B1' } }]
const line = (key: number, name: string, text: string) => ({ key, name, text })

test('the names and the texts of fields are those of the rows, and a file has a column for each name', () => {
  expect(customFieldNames(rows)).toEqual(['owner', 'wall'])
  expect(customFieldTexts(rows, 'wall')).toEqual(['B1', 'B2'])
  const csv = rowsCsv(fieldColumns(customFieldNames(rows)), rows)
  expect(csv).toBe('owner,wall\r\nAda,B2\r\n,\r\n,B1\r\n')
})

test('a filter has the name of a field, or its name and its text', () => {
  const found = (filter?: string) => rows.filter(fieldMatcher(filter)).map((row) => rows.indexOf(row))
  expect(found()).toEqual([0, 1, 2])
  expect(found('wall')).toEqual([0, 2])
  expect(found('wall:B2')).toEqual([0])
  expect(found('wall:')).toEqual([])
  for (const name of ['gone', 'constructor', 'constructor:']) expect(found(name)).toEqual([])
})

test('an edit sends what differs, null for a field that is gone, and nothing for empty lines', () => {
  const before = { wall: 'B2', owner: 'Ada' }
  expect(fieldChanges(before, fieldLines(before))).toBeUndefined()
  expect(fieldChanges(before, [line(1, 'wall', ' B3 '), line(2, '', ' ')])).toEqual({ wall: 'B3', owner: null })
  expect(fieldChanges(undefined, [line(1, 'a', 'b:c')])).toEqual({ a: 'b:c' })
})

test('a line without a possible name, without a text or with a repeated name has a problem', () => {
  const lines = [line(1, 'Wall', 'B2'), line(2, 'a', ''), line(3, 'b', 'x'), line(4, 'b', 'y'), line(5, '', '')]
  const problems = lines.map((one) => lineProblem(one, lines))
  expect(problems.map((text) => text?.slice(0, 8))).toEqual([
    ...['Use 1 to', 'Enter a ', 'There is', 'There is'],
    undefined,
  ])
  expect(lineProblem(line(1, 'a', 'x'.repeat(256)), [])).toContain('256 of 255')
  expect(areLinesValid(lines)).toBe(false)
  expect(areLinesValid([line(1, 'a', 'x'), line(2, '', '')])).toBe(true)
  expect(areLinesValid(Array.from({ length: 21 }, (_, i) => line(i, `f${i}`, 'x')))).toBe(false)
})

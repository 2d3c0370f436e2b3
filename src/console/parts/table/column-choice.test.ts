// Tests which columns are shown, exported and saved with a view, while some of them are empty.
import { expect, test } from 'vitest'
import { type Column, hasValueIn, markEmptyColumns } from './column.ts'
import { choiceOf, chosenColumns, idsOf } from './column-choice.ts'

interface Row {
  readonly name: string
  readonly tags?: string
  readonly age?: number
  readonly serial?: string
}
const column = (id: keyof Row, others: Partial<Column<Row>> = {}): Column<Row> => ({
  ...{ id, title: id, cell: (row) => row[id], text: (row) => String(row[id] ?? ''), ...others },
})
/** An old value is shown with its age, and is not in a file. */
const columns = [
  column('name'),
  column('tags', { from: 'medium' }),
  column('age', { text: () => '', hasValue: ({ age }) => age !== undefined }),
  column('serial', { from: 'file' }),
]
const widest = { medium: true, wide: true, full: true, extra: true }
const medium = { medium: true, wide: false, full: false, extra: false }
const none = { medium: false, wide: false, full: false, extra: false }
const columnsOf = (row: Row) => markEmptyColumns(columns, [row])

const bare = columnsOf({ name: 'A' })
const full = columnsOf({ name: 'A', tags: 'x', age: 1, serial: 'S' })

test('an empty column is not shown and stays in exported files', () => {
  const { shown, inFiles } = chosenColumns(bare, {}, medium)
  expect(idsOf(shown)).toEqual(['name'])
  expect(idsOf(inFiles)).toEqual(['name', 'tags', 'age', 'serial'])
  expect(idsOf(chosenColumns(full, {}, medium).shown)).toEqual(['name', 'tags', 'age'])
})

test('a view that is saved while columns are empty shows them once they have values', () => {
  const saved = idsOf(chosenColumns(bare, {}, medium).wanted)
  expect(saved).toEqual(['name', 'tags', 'age'])
  expect(idsOf(chosenColumns(bare, choiceOf(bare, saved), none).shown)).toEqual(['name'])
  expect(idsOf(chosenColumns(full, choiceOf(full, saved), none).shown)).toEqual(['name', 'tags', 'age'])
})

test('an empty column that the user has left out stays left out, and one that the user has added is shown once it has values', () => {
  const choice = { tags: false, serial: true }
  expect(idsOf(chosenColumns(bare, choice, medium).wanted)).toEqual(['name', 'age', 'serial'])
  expect(idsOf(chosenColumns(full, choice, medium).shown)).toEqual(['name', 'age', 'serial'])
  expect(choiceOf(bare, ['name', 'age'])).toEqual({ name: true, tags: false, age: true })
})

test('a column with hasValue decides by that, and the first column, columns without a text and a list without rows are never empty', () => {
  const isEmpty = (marked: readonly Column<Row>[]) => marked.filter((one) => one.isEmpty).map(({ id }) => id)
  expect(isEmpty(columnsOf({ name: '', age: 1 }))).toEqual(['tags', 'serial'])
  expect(isEmpty(markEmptyColumns(columns, []))).toEqual([])
  const { text: _, ...silent } = column('tags')
  expect(isEmpty(markEmptyColumns([column('name'), silent], [{ name: 'A' }]))).toEqual([])
  const unused = { ...silent, hasValue: () => false }
  expect(isEmpty(markEmptyColumns([column('name'), unused], [{ name: 'A' }]))).toEqual(['tags'])
})

test('an extra column is shown in the widest windows, and is in no file unless it was chosen', () => {
  const wide = [...columns, column('age', { id: 'extra', from: 'extra' })]
  expect(idsOf(chosenColumns(wide, {}, widest).shown)).toEqual(['name', 'tags', 'age', 'extra'])
  expect(idsOf(chosenColumns(wide, {}, { ...widest, extra: false }).shown)).not.toContain('extra')
  expect(idsOf(chosenColumns(wide, {}, widest).inFiles)).not.toContain('extra')
  expect(idsOf(chosenColumns(wide, { extra: true }, none).inFiles)).toContain('extra')
})

test('a card leaves out the cells of which it is known that they are empty', () => {
  const { text: _, ...silent } = column('tags')
  const shown = [...columns, silent].filter((one) => hasValueIn(one, { name: 'A', age: 1 }))
  expect(shown).toEqual([columns[0], columns[2], silent])
})

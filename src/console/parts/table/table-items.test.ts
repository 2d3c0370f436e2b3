// The order of the items of a long table: headings of groups, rows and details.
import { expect, test } from 'vitest'
import { inGroups, noGroup, tableItems } from './table-items.ts'

const rows = ['b2', 'a1', '-9', 'b1', 'a10', 'a2'].map((text) => ({ text }))
type Row = (typeof rows)[number]
const keyOf = ({ text }: Row) => text
const groupOf = ({ text }: Row) =>
  text.startsWith('-') ? { key: noGroup, name: 'No place' } : { key: text.charAt(0), name: `Place ${text.charAt(0)}` }
const none: ReadonlySet<string> = new Set()
const textsOf = (options: Partial<Parameters<typeof tableItems<Row>>[1]>) =>
  tableItems(options.groupOf ? inGroups(rows, options.groupOf) : rows, {
    keyOf,
    opened: none,
    closed: none,
    groupOf: undefined,
    ...options,
  }).map((item) =>
    item.kind === 'heading' ? `${item.group.name} (${item.rowKeys.length})` : `${item.kind} ${item.row.text}`,
  )

test('without groups the rows keep their order, and details follow their row', () => {
  expect(textsOf({ opened: new Set(['-9']) })).toEqual([
    ...['row b2', 'row a1', 'row -9', 'details -9', 'row b1', 'row a10', 'row a2'],
  ])
})

test('groups are sorted by name, rows in no group come last, and rows keep their order within a group', () => {
  expect(textsOf({ groupOf })).toEqual([
    ...['Place a (3)', 'row a1', 'row a10', 'row a2', 'Place b (2)', 'row b2', 'row b1', 'No place (1)', 'row -9'],
  ])
})

test('a closed group has its heading only, with the number of its rows', () => {
  expect(textsOf({ groupOf, closed: new Set(['a']) })).toEqual([
    ...['Place a (3)', 'Place b (2)', 'row b2', 'row b1', 'No place (1)', 'row -9'],
  ])
})

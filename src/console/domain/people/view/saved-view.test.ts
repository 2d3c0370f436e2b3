// Tests that a view and the address of its list become each other.
import { expect, test } from 'vitest'
import { isChanged, queryOf, savedColumnsOf, searchOf } from './saved-view.ts'

const view = { id: '7', query: 'field=wall%3AB2&sort=-people', columns: ['name', 'state'] }

test('a view opens its list with filters, order and columns', () => {
  expect(searchOf(view)).toEqual({ field: 'wall:B2', sort: '-people', columns: 'name,state', view: '7' })
  expect(searchOf({ id: '8', query: '' })).toEqual({ view: '8' })
})

test('the query of an address has neither the view nor its columns, and no empty filters', () => {
  const search = { ...searchOf(view), tab: 'list', region: undefined }
  expect(queryOf(search)).toBe(view.query)
  expect(savedColumnsOf(search)).toEqual(view.columns)
})

test.each([
  ['as it was opened', {}, false],
  ['with a filter more', { q: 'oslo' }, true],
  ['with another order', { sort: 'name' }, true],
  ['without a filter', { field: undefined }, true],
  ['with another column', { columns: 'name' }, true],
])('a list %s differs from its view: %s %s', (_, change, expected) => {
  expect(isChanged(view, { ...searchOf(view), ...change })).toBe(expected)
})

test('the order of the filters in an address makes no difference', () => {
  expect(isChanged({ query: 'b=2&a=1' }, { a: '1', view: '3', b: '2' })).toBe(false)
})

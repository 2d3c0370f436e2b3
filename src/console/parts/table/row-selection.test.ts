// Tests that ranges of rows grow and shrink from the row where they began.
import { expect, test } from 'vitest'
import { extended, nothingPicked, toggled } from './row-selection.ts'

const shown = ['a', 'b', 'c', 'd', 'e']
const keysOf = ({ keys }: { readonly keys: ReadonlySet<string | number> }) => [...keys].toSorted().join('')

test('a row that is picked twice is no longer selected', () => {
  const once = toggled(nothingPicked, 'b')
  expect(keysOf(once)).toBe('b')
  expect(keysOf(toggled(once, 'b'))).toBe('')
})

test('a range starts at the row that was picked last, in either direction, and keeps what was selected before it', () => {
  const picked = toggled(toggled(nothingPicked, 'a'), 'c')
  expect(keysOf(extended(picked, shown, 'e', 'e'))).toBe('acde')
  expect(keysOf(extended(picked, shown, 'b', 'b'))).toBe('abc')
})

test('a range shrinks when its end comes back', () => {
  const long = extended(toggled(nothingPicked, 'b'), shown, 'b', 'e')
  expect(keysOf(long)).toBe('bcde')
  expect(keysOf(extended(long, shown, 'e', 'd'))).toBe('bcd')
})

test('without a picked row, or if the filters hide it, the range starts where the user is', () => {
  expect(keysOf(extended(nothingPicked, shown, 'b', 'c'))).toBe('bc')
  expect(keysOf(extended(toggled(nothingPicked, 'x'), shown, 'd', 'e'))).toBe('dex')
})

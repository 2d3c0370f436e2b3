// Tests up to which age a sample is shown as current.
import { expect, test } from 'vitest'
import { freshnessOf } from './freshness.ts'

test('a sample is current for 2 minutes, and no longer', () => {
  expect(freshnessOf(1000, 1000 + 119_999)).toEqual({ atMs: 1000, isNow: true })
  expect(freshnessOf(1000, 1000 + 120_000)).toEqual({ atMs: 1000, isNow: false })
  expect(freshnessOf(undefined, 1000)).toEqual({ atMs: undefined, isNow: false })
})

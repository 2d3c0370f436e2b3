// Tests when a write that takes a limited number of rows is repeated.
import { expect, test } from 'vitest'
import { repeatSteps } from './repeat.ts'

/** Steps that take rows away, and how many there were. */
function newSteps(rowCount: number) {
  const rows = Array(rowCount).fill('row')
  const steps = { count: 0 }
  const take = async () => {
    steps.count++
    return rows.splice(0, 10)
  }
  return { steps, rows, take }
}

test.each([
  [0, 1],
  [9, 1],
  [10, 2],
  [25, 3],
])('%i rows need %i steps of 10', async (rowCount, expected) => {
  const { steps, rows, take } = newSteps(rowCount)
  await repeatSteps(10, take)
  expect(rows).toEqual([])
  expect(steps.count).toBe(expected)
})

test('no step begins after the signal was aborted', async () => {
  const { rows, take } = newSteps(25)
  const stop = new AbortController()
  await repeatSteps(
    10,
    async () => {
      stop.abort()
      return take()
    },
    stop.signal,
  )
  expect(rows).toHaveLength(15)
})

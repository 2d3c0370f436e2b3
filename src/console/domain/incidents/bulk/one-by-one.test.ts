// Tests that one refused request does not keep the others from being sent, and that Stop leaves the rest.
import { expect, test } from 'vitest'
import { oneByOne } from './one-by-one.ts'

test('every thing is tried in its order, and the refused ones are named with the reason', async () => {
  const progress: number[] = []
  const tried: number[] = []
  const send = async (item: number) => {
    tried.push(item)
    if (item === 2) throw new Error('It has ended.')
  }
  const result = await oneByOne([1, 2, 3], send, { onProgress: (count) => progress.push(count) })
  expect(result).toEqual({ done: [1, 3], refused: [{ item: 2, reason: 'It has ended.' }] })
  expect([tried, progress]).toEqual([
    [1, 2, 3],
    [1, 2, 3],
  ])
})

test('after Stop no further request is sent', async () => {
  const stop = new AbortController()
  const result = await oneByOne([1, 2, 3], async (item) => item === 2 && stop.abort(), {
    onProgress: () => {},
    signal: stop.signal,
  })
  expect(result).toEqual({ done: [1, 2], refused: [] })
})

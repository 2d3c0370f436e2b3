// Things that have changed are read first, then those that were never read, then the oldest; nothing more often than it has to be.
import { expect, test } from 'vitest'
import { ReadingOrder } from './reading-order.ts'

test('everything is read in turn, what has changed first, and nothing again before its time', () => {
  const order = new ReadingOrder()
  order.keep(['a', 'b', 'c'])
  const read = (nowMs: number) => {
    const next = order.next(nowMs, 100)
    if (next) order.startReading(next.thing, nowMs)
    return next?.thing
  }
  expect([read(1), read(2), read(3), read(4)]).toEqual(['a', 'b', 'c', undefined])
  order.hurry('c')
  order.hurry('gone')
  expect(order.next(5, 100)).toEqual({ thing: 'c', hasChanged: true })
  expect([read(5), read(6), read(101), read(102), read(103), read(105)]).toEqual([
    'c',
    undefined,
    'a',
    'b',
    undefined,
    'c',
  ])
  order.keep(['b', 'd'])
  expect([order.size, read(106), read(107), read(210)]).toEqual([2, 'd', undefined, 'b'])
})

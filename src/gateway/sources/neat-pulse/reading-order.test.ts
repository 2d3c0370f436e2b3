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

test('a reading that fails is repeated after a wait that doubles, and does not delay the others', () => {
  const order = new ReadingOrder()
  order.keep(['bad', 'good'])
  const bad: number[] = []
  let good = 0
  for (let nowMs = 1; nowMs < 1000; nowMs++) {
    const next = order.next(nowMs, 20)
    if (!next) continue
    order.startReading(next.thing, nowMs)
    if (next.thing === 'good') good++
    else {
      bad.push(nowMs)
      order.failed('bad', nowMs, 5)
    }
  }
  // The round comes before the longer waits are over.
  expect(bad.slice(0, 5)).toEqual([1, 6, 16, 36, 56])
  expect(good).toBeGreaterThan(45)
  order.succeeded('bad')
  order.failed('bad', 2000, 5)
  expect(order.next(2005, 5000)).toEqual({ thing: 'bad', hasChanged: true })
})

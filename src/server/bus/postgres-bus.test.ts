// Sending of notifications: messages are gathered, and at most one batch of a node is on its way.
import { setImmediate as immediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { until } from '../../../test/support/program.ts'
import { readPart } from './notification-parts.ts'
import { PostgresBus } from './postgres-bus.ts'

/** A bus on a session that answers a statement only when the test says so. */
function slowSession() {
  const underWay: PromiseWithResolvers<void>[] = []
  const batches: string[][] = []
  let mostUnderWay = 0
  const bus = new PostgresBus({
    process: 'p',
    nodeId: () => 1,
    onError: (error) => expect.unreachable(String(error)),
    async notify(notifications) {
      const text = notifications.map((notification) => readPart(notification)?.text).join('')
      batches.push(JSON.parse(text).flatMap(([, body]: [string, { endpointIds: string[] }]) => body.endpointIds))
      const answer = Promise.withResolvers<void>()
      underWay.push(answer)
      mostUnderWay = Math.max(mostUnderWay, underWay.length)
      await answer.promise.finally(() => underWay.splice(underWay.indexOf(answer), 1))
    },
  })
  bus.connect({ isFirst: true })
  const turns = async () => {
    for (let i = 0; i < 10; i++) await immediate()
  }
  return {
    bus,
    batches,
    underWay,
    turns,
    mostUnderWay: () => mostUnderWay,
    wake: (...ids: string[]) => {
      for (const id of ids) bus.send('wake', { endpointIds: [id] })
    },
    next: (count: number) => until(`batch ${count}`, () => batches.length >= count, { everyMs: 1 }),
  }
}

test('messages are gathered while a notification is on its way, and a node has never two on their way', async () => {
  const { bus, batches, underWay, turns, mostUnderWay, wake, next } = slowSession()
  wake('a', 'b', 'c')
  await next(1)
  for (const id of ['d', 'e', 'f']) {
    wake(id)
    await turns()
  }
  // The beat and the end of an interruption start to send too.
  bus.sendBeat()
  bus.connect({ isFirst: false })
  await turns()
  expect(batches, 'the first is not answered yet').toEqual([['a', 'b', 'c']])
  underWay[0]?.resolve()
  await next(2)
  wake('g')
  await turns()
  underWay[0]?.resolve()
  await next(3)
  underWay[0]?.resolve()
  await bus.flush(1000)
  expect(batches).toEqual([['a', 'b', 'c'], ['d', 'e', 'f'], ['g']])
  expect(mostUnderWay()).toBe(1)
})

test('a notification that failed is sent again before any other', async () => {
  const { bus, batches, underWay, turns, mostUnderWay, wake, next } = slowSession()
  wake('a')
  await next(1)
  wake('b')
  underWay[0]?.reject(new Error('the session is lost'))
  await next(2)
  await turns()
  expect(batches).toEqual([['a'], ['a']])
  underWay[0]?.resolve()
  await next(3)
  underWay[0]?.resolve()
  await bus.flush(1000)
  expect(batches).toEqual([['a'], ['a'], ['b']])
  expect(mostUnderWay()).toBe(1)
})

// How notifications are sent: a node has at most one in flight, and gathers later messages.
import { setImmediate as immediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { until } from '../../../test/support/program.ts'
import { readPart } from './notification-parts.ts'
import { PostgresBus } from './postgres-bus.ts'

/** A bus on a session that answers a statement only when the test says so. */
function slowSession() {
  const inFlight: PromiseWithResolvers<void>[] = []
  const batches: string[][] = []
  let maxInFlight = 0
  const bus = new PostgresBus({
    process: 'p',
    nodeId: () => 1,
    onError: (error) => expect.unreachable(String(error)),
    async notify(notifications) {
      const text = notifications.map((notification) => readPart(notification)?.text).join('')
      batches.push(JSON.parse(text).flatMap(([, body]: [string, { endpointIds: string[] }]) => body.endpointIds))
      const answer = Promise.withResolvers<void>()
      inFlight.push(answer)
      maxInFlight = Math.max(maxInFlight, inFlight.length)
      await answer.promise.finally(() => inFlight.splice(inFlight.indexOf(answer), 1))
    },
  })
  bus.connect({ isFirst: true })
  const turns = async () => {
    for (let i = 0; i < 10; i++) await immediate()
  }
  return {
    bus,
    batches,
    inFlight,
    turns,
    maxInFlight: () => maxInFlight,
    wake: (...ids: string[]) => {
      for (const id of ids) bus.send('wake', { endpointIds: [id] })
    },
    next: (count: number) => until(`batch ${count}`, () => batches.length >= count, { everyMs: 1 }),
  }
}

test('a node has at most one notification in flight; later messages are gathered', async () => {
  const { bus, batches, inFlight, turns, maxInFlight, wake, next } = slowSession()
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
  inFlight[0]?.resolve()
  await next(2)
  wake('g')
  await turns()
  inFlight[0]?.resolve()
  await next(3)
  inFlight[0]?.resolve()
  await bus.flush(1000)
  expect(batches).toEqual([['a', 'b', 'c'], ['d', 'e', 'f'], ['g']])
  expect(maxInFlight()).toBe(1)
})

test('a notification that failed is sent again before any other', async () => {
  const { bus, batches, inFlight, turns, maxInFlight, wake, next } = slowSession()
  wake('a')
  await next(1)
  wake('b')
  inFlight[0]?.reject(new Error('the session is lost'))
  await next(2)
  await turns()
  expect(batches).toEqual([['a'], ['a']])
  inFlight[0]?.resolve()
  await next(3)
  inFlight[0]?.resolve()
  await bus.flush(1000)
  expect(batches).toEqual([['a'], ['a'], ['b']])
  expect(maxInFlight()).toBe(1)
})

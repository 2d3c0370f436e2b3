// States of items on their way to the server: sent together, and again until it has acknowledged them.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { secondMs } from '../contract/durations.ts'
import { type ItemReport, StateReports } from './state-reports.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const untilSent = () => vi.advanceTimersByTimeAsync(secondMs)
const connected = (id: string): ItemReport => ({ id, revision: 1, state: 'CONNECTED' })

test('states go up in one message, and a state without an acknowledgement goes up with the next connection', async () => {
  const sent: ItemReport[][] = []
  let isAcknowledged = false
  const reports = new StateReports<ItemReport>(100, async (reports) => {
    sent.push(reports)
    if (!isAcknowledged) throw new Error('the connection has ended')
  })
  reports.open()
  for (const id of ['a', 'b']) reports.report(connected(id))
  await untilSent()
  expect(sent).toEqual([[connected('a'), connected('b')]])
  isAcknowledged = true
  reports.close()
  reports.open()
  await untilSent()
  reports.open()
  await untilSent()
  expect(sent.slice(1)).toEqual([[connected('a'), connected('b')]])
  reports.close()
})

test('nothing is sent for an item that is removed before its state goes up', async () => {
  const sent: ItemReport[][] = []
  const reports = new StateReports<ItemReport>(100, async (reports) => void sent.push(reports))
  reports.open()
  reports.report(connected('a'))
  reports.forget('a')
  await untilSent()
  expect(sent).toEqual([])
  reports.report(connected('b'))
  await untilSent()
  expect(sent).toEqual([[connected('b')]])
  reports.close()
})

test('an acknowledgement of the latest state can be waited for, up to a limit', async () => {
  const sent: ItemReport[][] = []
  let acknowledge = () => {}
  const reports = new StateReports<ItemReport>(1, (batch) => {
    sent.push(batch)
    return new Promise((resolve) => {
      acknowledge = resolve
    })
  })
  const settled: string[] = []
  const waitFor = (id: string, limitMs: number) =>
    void reports.acknowledged(id, limitMs).then(() => settled.push(`${id} ${limitMs}`))
  reports.open()
  reports.report(connected('a'))
  reports.report(connected('b'))
  waitFor('a', 10 * secondMs)
  waitFor('b', 10 * secondMs)
  waitFor('b', 2 * secondMs)
  waitFor('c', secondMs)
  await untilSent()
  expect(settled).toEqual(['c 1000'])
  acknowledge()
  await untilSent()
  expect(sent).toEqual([[connected('a')], [connected('b')]])
  expect(settled).toEqual(['c 1000', 'a 10000', 'b 2000'])
  // A state that replaces one on its way is the one to be acknowledged.
  reports.report({ ...connected('b'), state: 'UNREACHABLE' })
  acknowledge()
  await untilSent()
  expect(settled).toHaveLength(3)
  acknowledge()
  await untilSent()
  expect(settled).toEqual(['c 1000', 'a 10000', 'b 2000', 'b 10000'])
  reports.close()
})

// States of items on their way to the server: sent together, and again until it has acknowledged them.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { DevicesReport } from '../contract/device/protocol.ts'
import { secondMs } from '../contract/durations.ts'
import { type ItemReport, StateReports } from './state-reports.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const untilSent = () => vi.advanceTimersByTimeAsync(secondMs)
const connected = (id: string): ItemReport => ({ id, revision: 1, state: 'CONNECTED' })

test('states go up in one message, and a state without an acknowledgement goes up with the next connection', async () => {
  const sent: DevicesReport[] = []
  let isAcknowledged = false
  const reports = new StateReports(async (report) => {
    sent.push(report)
    if (!isAcknowledged) throw new Error('the connection has ended')
  })
  reports.open()
  for (const id of ['a', 'b']) reports.report(connected(id))
  await untilSent()
  expect(sent).toEqual([{ devices: [connected('a'), connected('b')] }])
  isAcknowledged = true
  reports.close()
  reports.open()
  await untilSent()
  reports.open()
  await untilSent()
  expect(sent.slice(1)).toEqual([{ devices: [connected('a'), connected('b')] }])
  reports.close()
})

test('nothing is sent for an item that is removed before its state goes up', async () => {
  const sent: DevicesReport[] = []
  const reports = new StateReports(async (report) => void sent.push(report))
  reports.open()
  reports.report(connected('a'))
  reports.forget('a')
  await untilSent()
  expect(sent).toEqual([])
  reports.report(connected('b'))
  await untilSent()
  expect(sent).toEqual([{ devices: [connected('b')] }])
  reports.close()
})

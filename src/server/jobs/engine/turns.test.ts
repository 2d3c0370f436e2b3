// Tests which of two jobs that touch one endpoint goes first. [contract 12.states]
import { expect, test } from 'vitest'
import { settingsOf } from '../../../../test/support/jobs/job-world.ts'
import { blocksEndpoint } from './turns.ts'

const job = { id: 7, started_at: 2000 }
const settings = (onFailure: 'pause' | 'rollBack') => JSON.stringify(settingsOf({ onFailure }))
const earlier = { id: 9, state: 'RUNNING', started_at: 1000, settings: settings('pause') } as const
const untouched = { unit_state: 'PENDING', unit_reason: null, touched: 0 } as const

test('the job that was started first goes first, unless it waits for a connection or is paused', () => {
  expect(blocksEndpoint(earlier, untouched, job)).toBe(true)
  expect(blocksEndpoint({ ...earlier, started_at: 3000 }, untouched, job)).toBe(false)
  expect(blocksEndpoint({ ...earlier, started_at: 2000 }, untouched, job), 'then the smaller id').toBe(false)
  expect(blocksEndpoint({ ...earlier, state: 'PAUSED' }, untouched, job)).toBe(false)
  const waiting = (unit_reason: string) =>
    blocksEndpoint(earlier, { ...untouched, unit_state: 'WAITING', unit_reason }, job)
  expect(['window', 'idle', 'pace', 'other job', 'connection'].map(waiting)).toEqual([true, true, true, true, false])
})

test('an endpoint that another job changes or watches is blocked, whatever the state of that job is', () => {
  for (const state of ['RUNNING', 'PAUSED', 'STOPPED'] as const) {
    const later = { ...earlier, state, started_at: 3000 }
    expect(blocksEndpoint(later, { ...untouched, unit_state: 'RUNNING' }, job)).toBe(true)
    expect(blocksEndpoint(later, { ...untouched, unit_state: 'SOAKING' }, job)).toBe(true)
    expect(blocksEndpoint(later, { ...untouched, unit_state: 'SUCCEEDED', touched: 1 }, job)).toBe(false)
  }
})

test('a job that is rolled back, or will be, keeps what it has touched from others', () => {
  const stopped = { ...earlier, state: 'STOPPED', settings: settings('rollBack') } as const
  const done = { ...untouched, unit_state: 'SUCCEEDED', touched: 1 } as const
  for (const other of [stopped, { ...earlier, state: 'ROLLING_BACK' } as const]) {
    expect(blocksEndpoint(other, done, job)).toBe(true)
    expect(blocksEndpoint(other, untouched, job), 'not begun').toBe(false)
    expect(blocksEndpoint(other, { ...done, touched: 0 }, job), 'nothing to restore').toBe(false)
  }
})

// Tests what a retained event costs in memory.
import { expect, test } from 'vitest'
import type { Event } from '../../contract/journal/events.ts'
import { eventFrame } from './ring.ts'

test('the bytes of an event retain no memory but their own', () => {
  const event: Event = { type: 'reset', at: '2026-11-17T13:00:00Z', roomIds: [] }
  const bytes = eventFrame('a-1', event)
  expect(bytes.toString()).toBe(`id: a-1\nevent: reset\ndata: ${JSON.stringify(event)}\n\n`)
  expect(bytes.buffer.byteLength).toBe(bytes.byteLength)
})

test('the bytes of an event are UTF-8', () => {
  const bytes = eventFrame('å-1', { type: 'reset', at: 'ø', roomIds: [] })
  expect(bytes.toString()).toContain('"at":"ø"')
})

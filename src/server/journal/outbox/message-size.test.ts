// Tests that no message is larger than receivers accept, whatever it is about. [contract 10.delivery]
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { maxMessageBytes } from '../../../contract/channels/messages.ts'
import { messageJson } from './message-size.ts'

test('a message that fits is not changed', () => {
  const content = { incident: { id: '1', roomIds: [1, 2, 3], title: 'Fjord is offline' } }
  expect(JSON.parse(messageJson(content))).toEqual(content)
})

test('long lists are shortened, the message says so, and short values stay', () => {
  const roomIds = Array.from({ length: 10_000 }, (_, i) => i)
  const incident = { id: '1', title: 'Oslo is offline', roomIds, cause: { level: 'LOCATION', id: '7' } }
  const text = messageJson({ incident })
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxMessageBytes - 2048)
  const { shortened, incident: kept } = JSON.parse(text)
  expect(shortened).toBe(true)
  expect(kept).toMatchObject({ id: '1', title: 'Oslo is offline', cause: { level: 'LOCATION', id: '7' } })
  expect(kept.roomIds).toEqual(roomIds.slice(0, kept.roomIds.length))
  expect(kept.roomIds.length).toBeGreaterThan(100)
})

test('whatever the content is, the message is JSON that fits', () => {
  const long = fc.string({ unit: 'grapheme', minLength: 0, maxLength: 3000 })
  const content = fc.object({
    maxDepth: 5,
    maxKeys: 60,
    values: [long, fc.double(), fc.array(long, { maxLength: 200 })],
  })
  fc.assert(
    fc.property(content, (entry) => {
      const text = messageJson({ entry })
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxMessageBytes)
      const parsed = JSON.parse(text)
      if (parsed.shortened !== true) expect(parsed).toEqual(JSON.parse(JSON.stringify({ entry })))
    }),
    { numRuns: 200 },
  )
})

test('texts are cut between characters', () => {
  const text = messageJson({ entry: { details: '😀'.repeat(10_000) } })
  expect(text.isWellFormed()).toBe(true)
  expect(JSON.parse(text).entry.details).toMatch(/^😀+.?…$/u)
})

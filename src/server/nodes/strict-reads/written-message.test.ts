// Written rows in messages: the receiver gets the same rows or more, and no value of a column that is not a key.
import { expect, test } from 'vitest'
import { writtenRowsMessages, writtenRowsOf } from './written-message.ts'

const transported = (rows: Parameters<typeof writtenRowsMessages>[0]) =>
  writtenRowsOf(JSON.parse(JSON.stringify(writtenRowsMessages(rows))))

test('rows by id, by room, of an organisation and of a table arrive as they were', () => {
  const rows = [
    { table: 'endpoints', org: 1, where: { id: 'a' }, columns: new Set(['status']) },
    { table: 'endpoints', org: 1, where: { id: 'b' }, columns: new Set(['status']) },
    { table: 'endpoints', org: 1, where: { room_id: 5 } },
    { table: 'rooms', org: 2, where: {} },
    { table: 'rooms', org: undefined, where: {} },
  ]
  expect(transported(rows)).toEqual(rows)
  expect(writtenRowsMessages(rows)).toHaveLength(4)
})

test('only ids are sent: other values may be secret, and a wider message is right too', () => {
  const hash = Buffer.from('secret')
  const rows = [{ table: 'endpoints', org: 1, where: { id: 'a', room_id: 5, serial: 'S1', hash } }]
  expect(JSON.stringify(writtenRowsMessages(rows))).toBe('[{"table":"endpoints","org":1,"key":"id","values":["a"]}]')
  expect(transported([{ table: 'endpoints', org: 1, where: { serial: 'S1' } }])).toEqual([
    { table: 'endpoints', org: 1, where: {} },
  ])
})

test('the same row is sent once, and too many rows become all rows', () => {
  const row = (n: number) => ({ table: 'endpoints', org: 1, where: { id: `e${n}` } })
  expect(transported([row(1), row(1)])).toEqual([row(1)])
  expect(transported(Array.from({ length: 501 }, (_, n) => row(n)))).toEqual([
    { table: 'endpoints', org: 1, where: {} },
  ])
})

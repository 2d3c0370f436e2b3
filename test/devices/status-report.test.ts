// Status reports that are refused as a whole: each mistake is named with its place. [contract 5.1]
import { expect, test } from 'vitest'
import { BadMessage, readMessage } from '../../src/server/devices/mqtt/messages.ts'

const wrong: readonly [field: string, value: unknown, pointer?: string][] = [
  ['name', 'x'.repeat(101)],
  ['name', 'two\nlines'],
  ['kind', 'TOASTER'],
  ['startedAt', 'yesterday'],
  ['power', 'on'],
  ['sleeps', 'yes'],
  ['inputs', Array(33).fill('HDMI')],
  ['volume', 101],
  ['sensors', ['noise'], '/sensors/0'],
  ['peopleIs', 'GUESS'],
  ['actions', ['dance'], '/actions/0'],
  ['peripherals', [{ id: 'a', name: 'Camera', kind: 'CAMERA' }], '/peripherals/0/connected'],
  ['faults', [{ code: 'no spaces', level: 'INFO', text: '' }], '/faults/0/code'],
  ['faults', Array(33).fill({ code: 'a', level: 'INFO', text: '' })],
  ['readings', [{ name: 'LampHours', value: 1, unit: 'h' }], '/readings/0/name'],
  ['readings', Array(17).fill({ name: 'a', value: 1, unit: '' })],
  ['facts', [{ name: 'lens' }], '/facts/0/text'],
]

test.each(wrong)('a wrong %s is refused, case %$', (field, value, pointer = `/${field}`) => {
  let refused: unknown
  try {
    readMessage('status', Buffer.from(JSON.stringify({ [field]: value })))
  } catch (error) {
    refused = error
  }
  expect(refused).toBeInstanceOf(BadMessage)
  expect(refused).toMatchObject({ field: pointer })
})

// Answers of several dialects are understood; answers that are incomplete or of another type are refused in words.
import { expect, test } from 'vitest'
import { SourceFailure } from '../source.ts'
import { idText, listedDevice, listInAnswer, nextPageOf, parseAnswer, sensorDataByDevice } from './answers.ts'

const host = 'pulse.example'
const failureOf = (work: () => unknown): string => {
  try {
    work()
  } catch (error) {
    expect(error).toBeInstanceOf(SourceFailure)
    expect((error as SourceFailure).state).toBe('FAILING')
    return (error as Error).message
  }
  throw new Error('It did not fail.')
}

test('a web page and a part of an answer are refused', () => {
  expect(failureOf(() => parseAnswer('<!DOCTYPE html><p>Sign in</p>', null, host))).toContain('web page')
  expect(failureOf(() => parseAnswer('Sign in', 'text/html', host))).toContain('web page')
  expect(failureOf(() => parseAnswer('{"endpoints":[{"id":', 'application/json', host))).toContain('not complete JSON')
})

test.each([[{ rooms: [{ id: 1 }] }], [[{ id: 1 }]], [{ data: [{ id: 1 }] }], [{ items: [{ id: 1 }] }]])(
  'the list in %j is found',
  (answer) => {
    expect(listInAnswer(answer, 'rooms', host)).toEqual([{ id: 1 }])
  },
)

test('an answer without a list is refused, and an empty object is an empty list', () => {
  expect(listInAnswer({}, 'rooms', host)).toEqual([])
  for (const answer of [null, 'rooms', { rooms: 7 }, { rooms: ['a'] }, { message: 'no' }])
    expect(failureOf(() => listInAnswer(answer, 'rooms', host))).toContain('no list of rooms')
})

test('a device needs an identifier, a model and a connection state; other fields stay as they are', () => {
  const fields = { id: 'd1', serial: 'NB1', model: 'NF19B1', connected: true, roomId: 7, newField: { a: 1 } }
  expect(listedDevice(fields, host)).toEqual({
    id: 'd1',
    serial: 'NB1',
    model: 'NF19B1',
    connected: true,
    roomId: '7',
    fields,
  })
  expect(listedDevice({ ...fields, serial: null, roomId: 0 }, host)).not.toHaveProperty('roomId')
  const wrong = { id: 12, model: '', connected: 'yes', serial: 9, roomId: [1] }
  for (const [name, value] of Object.entries(wrong))
    expect(failureOf(() => listedDevice({ ...fields, [name]: value }, host))).toContain(`whose ${name} is`)
})

test('sensor data is found by device, with null for a device that has none', () => {
  const sample = { co2: 420, timestamp: '1714960500' }
  const answer = {
    data: [
      { id: 'd1', endpointData: { data: [sample], shutterClosed: true } },
      { id: 'd2', endpointData: null },
      { id: 'd3', endpointData: { data: [] } },
    ],
  }
  const found = sensorDataByDevice(answer, host)
  expect(found.get('d1')).toEqual({ sample, beside: { data: [sample], shutterClosed: true } })
  expect([...found]).toHaveLength(3)
  expect([found.get('d2'), found.get('d3')]).toEqual([undefined, undefined])
  expect(failureOf(() => sensorDataByDevice({ data: [{ endpointData: null }] }, host))).toContain('without a device')
})

test('identifiers are numbers or texts, and pages end without a token', () => {
  expect([7, '7', 'a-b', 0, '0', '', null, 1.5, {}].map(idText)).toEqual(['7', '7', 'a-b', ...Array(6).fill(undefined)])
  expect([{ nextPageToken: 'p2' }, { nextPageToken: '' }, [], {}].map(nextPageOf)).toEqual([
    'p2',
    undefined,
    undefined,
    undefined,
  ])
})

// Answers as people read them.
import { expect, test } from 'vitest'
import { operations } from '../../contract/operations.ts'
import { joined } from './pages.ts'
import { shapeText } from './shape-text.ts'
import { columnsOf, listIn, pairsOf, tableOf } from './view.ts'

test('lists are recognised by their shape, and other answers are not', () => {
  expect(listIn(shapeText(operations.roomsList.response))?.key).toBe('rooms')
  expect(listIn(shapeText(operations.auditLogs.response))?.key).toBe('logs')
  expect(listIn(shapeText(operations.roomsGet.response))).toBeUndefined()
  expect(listIn(shapeText(operations.roomsSensorHistory.response))).toBeUndefined()
})

test('the columns of a list are values, lists of values, and things by their name', () => {
  const columns = columnsOf(listIn(shapeText(operations.roomsList.response))?.item ?? {})
  expect(columns).toEqual(expect.arrayContaining(['id', 'name', 'location.name', 'tags']))
  expect(columns).not.toContain('endpoints')
})

const rooms = [
  { id: 4, name: 'Fjord', location: { id: 2, name: 'Oslo' }, tags: ['a', 'b'], note: null },
  { id: 11, name: 'Skog\nmed trær', location: undefined, tags: [], note: 'x'.repeat(80) },
]
const columns = ['id', 'name', 'location.name', 'tags', 'capacity', 'note']

test('a table has no empty columns', () => {
  const { lines, columns: shown } = tableOf(rooms, columns)
  expect(shown).toEqual(['id', 'name', 'location.name', 'tags', 'note'])
  expect(lines).toEqual([
    'ID  NAME           LOCATION.NAME  TAGS  NOTE',
    '4   Fjord          Oslo           a, b',
    `11  Skog med trær                       ${'x'.repeat(80)}`,
  ])
})

test('a terminal gets the columns that fit, and the names of the others', () => {
  expect(tableOf(rooms, columns, { width: 40 })).toMatchObject({
    columns: ['id', 'name', 'location.name', 'tags'].slice(0, 4),
    omitted: ['note'],
  })
  expect(tableOf(rooms, columns, { width: 1 })).toMatchObject({ columns: ['id'] })
  const [, , last = ''] = tableOf(rooms, columns, { width: 200 }).lines
  expect(last).toMatch(/ x{59}…$/)
})

test('chosen columns are all shown', () => {
  const { lines } = tableOf(rooms, ['note', 'unheardOf', 'id'], { width: 10, isChosen: true })
  expect(lines[1]).toMatch(/^ +4$/)
})

test('one thing is shown as pairs, with tables of what it contains', () => {
  const room = {
    id: 4,
    location: { id: 2, name: 'Oslo' },
    tags: ['a', 'b'],
    hours: {},
    endpoints: [{ id: 'e1', serial: 'S1', sample: { co2: 1 } }],
  }
  expect(pairsOf(room)).toEqual([
    'id             4',
    'location.id    2',
    'location.name  Oslo',
    'tags           a, b',
    'hours          {}',
    '',
    'endpoints:',
    '  ID  SERIAL',
    '  e1  S1',
  ])
})

test('the lists of pages are joined, and the rest is that of the first page', async () => {
  const pages = async function* () {
    yield { interval: '1h', samples: [], buckets: [1, 2], nextPageToken: 'x' }
    yield { interval: '1h', samples: [], buckets: [3], nextPageToken: '' }
  }
  expect(await joined(pages())).toEqual({ interval: '1h', samples: [], buckets: [1, 2, 3] })
})

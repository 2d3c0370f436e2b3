// Tests room notes, through HTTP.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(Date.UTC(2026, 2, 2, 9, 15))
})
afterAll(() => harness.close())

/** Creates two rooms, Fjord (1) and Fuji (2). */
async function rooms(): Promise<TestOrg> {
  const org = await harness.newOrg()
  for (const name of ['Fjord', 'Fuji']) await org.call('POST', '/rooms', { body: { name } })
  return org
}
const add = ({ call }: TestOrg, room: number, note: string) => call('POST', `/rooms/${room}/notes`, { body: { note } })
const stateOf = async ({ call, audit }: TestOrg) => [(await call('GET', '/rooms/notes')).text, await audit()]
const textsIn = ({ body }: { body: { notes: { note: string }[] } }) => body.notes.map((n) => n.note)

test('roomNotesCreate adds a note that says who wrote it and when [interface 18] [contract 4.roomNotesCreate]', async () => {
  const org = await rooms()
  const key = await org.newKey({ name: 'Front desk' })
  const etag = (await org.call('GET', '/rooms/1')).headers.get('etag')
  const created = await org.call('POST', '/rooms/1/notes', { body: { note: 'Cable on order' }, key })
  expect(created.body).toEqual({
    id: '1',
    roomId: 1,
    note: 'Cable on order',
    author: 'Front desk',
    createdAt: '2026-03-02T09:15:00.000Z',
  })
  expect((await org.call('GET', '/rooms/1/notes/1')).body).toEqual(created.body)
  expect((await org.call('GET', '/rooms/1/notes')).body).toEqual({ notes: [created.body] })
  expect((await org.call('GET', '/rooms/2/notes')).body).toEqual({ notes: [] })
  expect((await org.call('GET', '/rooms/1')).headers.get('etag'), 'a room does not show notes').toBe(etag)
  expect((await org.audit())[0]).toMatchObject({
    category: 'ORG',
    type: 'ROOM_NOTE_CREATED',
    actor: { type: 'KEY', name: 'Front desk' },
    target: { type: 'roomNote', id: '1' },
    details: { after: { roomId: 1, note: 'Cable on order', author: 'Front desk' } },
  })
})

test('a note keeps its author when the key is revoked [contract 5.4.note]', async () => {
  const org = await rooms()
  const key = await org.newKey({ name: 'Temp' })
  await org.call('POST', '/rooms/1/notes', { body: { note: 'Hello' }, key })
  const { keys } = (await org.call('GET', '/keys')).body
  await org.call('DELETE', `/keys/${keys.find((k: { name: string }) => k.name === 'Temp').id}`)
  expect((await org.call('GET', '/rooms/1/notes/1')).body.author).toBe('Temp')
})

test.each(['content', 'text'])('%s is accepted as another name of note [contract 4.roomNotesCreate]', async (alias) => {
  const { call } = await rooms()
  expect((await call('POST', '/rooms/1/notes', { body: { [alias]: 'Hello' } })).body.note).toBe('Hello')
  const both = await call('POST', '/rooms/1/notes', { body: { [alias]: 'other', note: 'own name' } })
  expect(both.body.note).toBe('own name')
  expect(both.body).not.toHaveProperty(alias)
  expect(textsIn(await call('GET', '/rooms/1/notes'))).toEqual(['own name', 'Hello'])
})

test('a note has 1 to 4096 code points after trimming [contract 4.roomNotesCreate] [contract 1.10]', async () => {
  const org = await rooms()
  for (const note of ['x', '🏔'.repeat(4096), `  ${'é'.repeat(4096)}\n`]) {
    expect((await add(org, 1, note)).body.note).toBe(note.trim())
  }
  const before = await stateOf(org)
  for (const [note, error] of [
    ['', 'must have at least 1 character'],
    [' \n\t ', 'must have at least 1 character'],
    ['x'.repeat(4097), 'must have at most 4096 characters'],
    ['🏔'.repeat(4097), 'must have at most 4096 characters'],
  ] as const) {
    const refused = await add(org, 1, note)
    expect(refused.status).toBe(400)
    expect(refused.body.violations).toEqual([{ field: 'note', error }])
  }
  expect(await stateOf(org)).toEqual(before)
})

test.each([
  [{}],
  [{ note: null }],
  [{ note: 7 }],
  [{ note: ['x'] }],
  [{ content: 7 }],
  [{ comment: 'x' }],
  [undefined],
])('a body of %j is refused, and nothing is added [contract 4.roomNotesCreate]', async (body) => {
  const org = await rooms()
  const before = await stateOf(org)
  const refused = await org.call('POST', '/rooms/1/notes', { body })
  expect(refused.status).toBe(400)
  expect(refused.body.code).toBe('INVALID_ARGUMENT')
  expect(await stateOf(org)).toEqual(before)
})

test('newlines and tabs inside a note are stored, and trimmed at its ends [contract 1.10] [contract D.18]', async () => {
  const org = await rooms()
  const note = 'Broken:\n\t- HDMI 🔌\r\n\n\t- שלום'
  expect((await add(org, 1, `\n\t${note}\t\n`)).body.note).toBe(note)
  expect(Buffer.from((await org.call('GET', '/rooms/1/notes/1')).body.note)).toEqual(Buffer.from(note))
})

test.each(['\\u0000', '\\u0007', '\\u000b', '\\r', '\\u001b', '\\u007f', '\\u0085', '\\ud800', '\\udc00'])(
  'a note with %s is refused wherever it stands, and nothing is added [contract 1.10] [contract D.1]',
  async (character) => {
    const org = await rooms()
    const before = await stateOf(org)
    for (const text of [`a${character}b`, `${character}ab`, `ab${character}`]) {
      const refused = await org.call('POST', '/rooms/1/notes', { raw: `{"note":"${text}"}` })
      expect(refused.status, text).toBe(400)
      expect(refused.body).toMatchObject({ code: 'INVALID_ARGUMENT', violations: [{ field: 'note' }] })
    }
    expect(await stateOf(org)).toEqual(before)
  },
)

test('notes are listed newest first, for one room and for all, even if the clock went back [contract 6.notes]', async () => {
  const org = await rooms()
  const other = await rooms()
  await add(other, 1, 'elsewhere')
  await add(org, 1, 'first')
  await add(org, 2, 'second')
  harness.clock.advance(-60_000)
  await add(org, 1, 'third')
  expect(textsIn(await org.call('GET', '/rooms/1/notes'))).toEqual(['third', 'first'])
  expect(textsIn(await org.call('GET', '/rooms/2/notes'))).toEqual(['second'])
  expect(textsIn(await org.call('GET', '/rooms/notes'))).toEqual(['third', 'second', 'first'])
})

test('a note is found only in its own room and by its own id [contract 6.notes] [contract D.4]', async () => {
  const org = await rooms()
  await add(org, 1, 'Hello')
  const before = await stateOf(org)
  const places = ['/rooms/2/notes/1', '/rooms/9/notes/1']
  for (const id of ['2', '01', '1.0', '1e0', '-1', '0', 'abc', '%201', '2147483648', '99999999999999999999']) {
    places.push(`/rooms/1/notes/${id}`)
  }
  for (const place of places) {
    for (const method of ['GET', 'DELETE']) {
      const reply = await org.call(method, place)
      expect(reply.status, `${method} ${place}`).toBe(404)
      expect(reply.body.message).toMatch(/^Requested resource not found: /)
    }
  }
  expect((await org.call('GET', '/rooms/x/notes/1')).body.violations).toMatchObject([{ field: 'roomId' }])
  expect((await org.call('GET', '/rooms/9/notes')).status).toBe(404)
  expect((await add(org, 9, 'Hello')).status).toBe(404)
  expect(await stateOf(org)).toEqual(before)
})

test('roomNotesDelete deletes that note only, and its id is not reused [contract 6.notes] [contract D.5]', async () => {
  const org = await rooms()
  for (const note of ['first', 'second']) await add(org, 1, note)
  await add(org, 2, 'third')
  const entries = (await org.audit()).length
  expect((await org.call('DELETE', '/rooms/1/notes/2', { headers: { 'if-match': '"7"' } })).status).toBe(412)
  expect(await org.audit()).toHaveLength(entries)

  expect((await org.call('DELETE', '/rooms/1/notes/2', { headers: { 'if-match': '"1"' } })).body).toEqual({})

  expect(textsIn(await org.call('GET', '/rooms/notes'))).toEqual(['third', 'first'])
  const log = await org.audit()
  expect(log).toHaveLength(entries + 1)
  expect(log[0]).toMatchObject({
    type: 'ROOM_NOTE_DELETED',
    target: { type: 'roomNote', id: '2' },
    details: { before: { roomId: 1, note: 'second' } },
  })
  expect((await org.call('DELETE', '/rooms/1/notes/2')).status).toBe(404)
  expect((await add(org, 1, 'fourth')).body.id).toBe('4')
  await org.call('DELETE', '/rooms/1/notes/4')
  expect((await add(org, 1, 'fifth')).body.id).toBe('5')
})

test('roomsDelete never writes half a character into the log, wherever it cuts a note [contract 1.10]', async () => {
  const org = await rooms()
  for (const start of ['', 'x']) await add(org, 1, start + '🏔'.repeat(2000))
  await org.call('DELETE', '/rooms/1')
  const { affected } = (await org.audit())[0].details
  expect(affected.map((note: { name: string }) => note.name.isWellFormed())).toEqual([true, true])
})

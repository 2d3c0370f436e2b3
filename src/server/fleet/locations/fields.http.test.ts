// Tests the fields of a location through HTTP: its time zone, its change window, and the rules for text in its name.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'
import { newAtlas, readState } from '../../../../test/support/places/atlas.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())
const createAtlas = () => newAtlas(harness)

test('a location may have a time zone: absent keeps it, null clears it, and rooms do not show it [contract 4.locationsUpdate]', async () => {
  const org = await createAtlas()
  const { id } = (await org.call('POST', '/locations', { body: { name: 'Oslo', timezone: 'Europe/Oslo' } })).body
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord', locationId: id } })).body.id
  const read = async () =>
    (await org.call('GET', '/locations')).body.locations.find((location: { id: number }) => location.id === id)
  expect(await read()).toEqual({ id, name: 'Oslo', timezone: 'Europe/Oslo' })
  expect((await org.call('GET', `/rooms/${roomId}`)).body.location).toEqual({ id, name: 'Oslo' })
  const put = (body: object) => org.call('PUT', `/locations/${id}`, { body })
  expect((await put({ name: 'Oslo HQ' })).body).toMatchObject({ name: 'Oslo HQ', timezone: 'Europe/Oslo' })
  expect((await put({ timezone: 'Asia/Tokyo' })).body).toMatchObject({ name: 'Oslo HQ', timezone: 'Asia/Tokyo' })
  expect((await org.audit())[0].details).toMatchObject({
    ...{ before: { timezone: 'Europe/Oslo' }, after: { timezone: 'Asia/Tokyo' } },
  })
  for (const timezone of ['Mars/Base', '', 'Europe/Oslo\n']) {
    const refused = await put({ timezone })
    expect(refused.status, timezone).toBe(400)
    expect(refused.body.violations).toMatchObject([{ field: 'timezone' }])
  }
  expect(await read()).toMatchObject({ timezone: 'Asia/Tokyo' })
  expect((await put({ timezone: null })).body).not.toHaveProperty('timezone')
  expect(await read()).toEqual({ id, name: 'Oslo HQ' })
})

test('a location may have a change window: absent keeps it, null clears it, and rooms do not show it [contract 12.window]', async () => {
  const org = await createAtlas()
  const changeWindow = { days: ['fri', 'mon', 'fri'], from: '20:00', to: '05:00' }
  const stored = { days: ['mon', 'fri'], from: '20:00', to: '05:00' }
  const made = await org.call('POST', '/locations', { body: { name: 'Oslo', changeWindow } })
  const { id } = made.body
  expect(made.body).toEqual({ id, name: 'Oslo', changeWindow: stored })
  expect((await org.audit())[0].details.after).toMatchObject({ changeWindow: stored })
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord', locationId: id } })).body.id
  expect((await org.call('GET', `/rooms/${roomId}`)).body.location).toEqual({ id, name: 'Oslo' })
  const read = async () =>
    (await org.call('GET', '/locations')).body.locations.find((location: { id: number }) => location.id === id)
  const put = (body: object) => org.call('PUT', `/locations/${id}`, { body })
  expect((await put({ name: 'Oslo HQ' })).body).toEqual({ id, name: 'Oslo HQ', changeWindow: stored })
  expect((await org.audit())[0].details.after).not.toHaveProperty('changeWindow')
  const always = { ...stored, from: '00:00', to: '00:00' }
  expect((await put({ changeWindow: always })).body.changeWindow).toEqual(always)
  expect((await org.audit())[0].details).toMatchObject({
    ...{ before: { changeWindow: stored }, after: { changeWindow: always } },
  })
  for (const wrong of [
    {},
    [null],
    [stored],
    'always',
    { ...stored, days: [] },
    { ...stored, days: ['monday'] },
    { ...stored, from: '24:00' },
    { ...stored, to: '5:00' },
    { days: ['mon'], from: '20:00' },
  ]) {
    const refused = await put({ changeWindow: wrong })
    expect(refused.status, JSON.stringify(wrong)).toBe(400)
    expect(refused.body.violations[0].field).toMatch(/^changeWindow/)
  }
  const missing = (await put({ changeWindow: { days: ['mon'] } })).body.violations
  expect(missing.map(({ field }: { field: string }) => field)).toEqual(['changeWindow.from', 'changeWindow.to'])
  expect(await read()).toEqual({ id, name: 'Oslo HQ', changeWindow: always })
  expect((await put({ changeWindow: null })).body).toEqual({ id, name: 'Oslo HQ' })
  expect((await org.audit())[0].details.after).toMatchObject({ changeWindow: null })
  expect(await read()).toEqual({ id, name: 'Oslo HQ' })
  expect((await put({ changeWindow: stored })).body.changeWindow).toEqual(stored)
  expect((await put({ changeWindow: [] })).body, 'an empty list clears it too').toEqual({ id, name: 'Oslo HQ' })
  expect((await org.audit())[0].details).toMatchObject({
    ...{ before: { changeWindow: stored }, after: { changeWindow: null } },
  })
  for (const none of [null, []]) {
    const other = await org.call('POST', '/locations', { body: { name: 'Bergen', changeWindow: none } })
    expect(other.body, other.text).toEqual({ id: other.body.id, name: 'Bergen' })
  }
})

test('locationsDelete writes every field of the location into the audit log [contract 5.4.audit]', async () => {
  const org = await createAtlas()
  const { id: regionId } = (await org.call('POST', '/regions', { body: { name: 'Nordics' } })).body
  const fields = {
    ...{ name: 'Oslo', regionId, timezone: 'Europe/Oslo' },
    changeWindow: { days: ['mon'], from: '20:00', to: '05:00' },
  }
  const { id } = (await org.call('POST', '/locations', { body: fields })).body
  expect((await org.audit())[0].details).toEqual({ after: fields })
  await org.call('DELETE', `/locations/${id}`)
  expect((await org.audit())[0].details).toEqual({ before: fields })
})

test('locationsGet and regionsGet answer with the ETag that the next write takes [contract 6.sites] [contract 7.11]', async () => {
  const org = await createAtlas()
  for (const path of ['/regions/1', '/locations/1']) {
    const read = await org.call('GET', path)
    const etag = read.headers.get('etag') ?? ''
    const kind = path.split('/')[1] as string
    const listed = (await org.call('GET', `/${kind}`)).body[kind]
    expect(read.body).toEqual(listed.find((one: { id: number }) => one.id === 1))
    const renamed = await org.call('PUT', path, { body: { name: 'Renamed' }, headers: { 'if-match': etag } })
    expect(renamed.status, renamed.text).toBe(200)
    const late = await org.call('PUT', path, { body: { name: 'Late' }, headers: { 'if-match': etag } })
    expect(late.status).toBe(412)
    const now = await org.call('GET', path)
    expect(now.body.name).toBe('Renamed')
    expect(now.headers.get('etag')).toBe(renamed.headers.get('etag'))
  }
  expect((await org.call('GET', '/locations/99')).status).toBe(404)
  expect((await org.call('GET', '/regions/99')).status).toBe(404)
})

test.each([
  ['emoji', '🏔️👩‍👩‍👧‍👦 Oslo 🇳🇴'],
  ['right-to-left text with its marks', '\u200fמשרד תל אביב\u200f (١٢٣)'],
  ['letters with and without combining marks', 'Cafe\u0301 Café ﬁ Å'],
  ['white space and separators inside', 'a  b\u00a0c\u2028d'],
  ['what other languages would read as code', `'; DROP TABLE locations; -- <b>&amp;\\n%00\${x}`],
])('a name keeps %s byte for byte [contract 1.10]', async (_, name) => {
  const { call } = await harness.newOrg()
  const created = await call('POST', '/locations', { body: { name } })
  expect(Buffer.from(created.body.name)).toEqual(Buffer.from(name))
  const [listed] = (await call('GET', '/locations')).body.locations
  expect(Buffer.from(listed.name)).toEqual(Buffer.from(name))
})

test('a name is trimmed at its ends, and names may repeat [contract 1.10]', async () => {
  const { call } = await harness.newOrg()
  expect((await call('POST', '/locations', { body: { name: ' \u00a0\u3000Oslo  HQ ' } })).body.name).toBe('Oslo  HQ')
  expect((await call('POST', '/locations', { body: { name: 'Oslo  HQ' } })).body).toEqual({ id: 2, name: 'Oslo  HQ' })
})

test('a name has 1 to 100 code points after trimming [contract 1.10]', async () => {
  const org = await createAtlas()
  for (const name of ['x', '🏔'.repeat(100), ` ${'é'.repeat(100)} `]) {
    expect((await org.call('PUT', '/locations/1', { body: { name } })).body.name).toBe(name.trim())
  }
  const before = await readState(org)
  for (const [name, error] of [
    ['', 'must have at least 1 character'],
    ['   ', 'must have at least 1 character'],
    ['\u00a0\u2003\u3000', 'must have at least 1 character'],
    ['x'.repeat(101), 'must have at most 100 characters'],
    ['🏔'.repeat(101), 'must have at most 100 characters'],
    ['x'.repeat(10_000), 'must have at most 100 characters'],
  ]) {
    const refused = await org.call('PUT', '/locations/1', { body: { name } })
    expect(refused.status).toBe(400)
    expect(refused.body.violations).toEqual([{ field: 'name', error }])
  }
  expect(await readState(org)).toEqual(before)
})

test('a name holds no control characters and no half of a surrogate pair, also at its ends [contract 1.10] [contract D.1]', async () => {
  const org = await createAtlas()
  const before = await readState(org)
  const bad = ['\\u0000', '\\n', '\\t', '\\r', '\\u001b', '\\u007f', '\\u0085', '\\ud800', '\\udc00', '\\udc00\\ud800']
  for (const text of bad.flatMap((c) => [`a${c}b`, `${c}ab`, `ab${c}`, c])) {
    const refused = await org.call('POST', '/locations', { raw: `{"name":"${text}"}` })
    expect(refused.status, text).toBe(400)
    expect(refused.body).toMatchObject({ code: 'INVALID_ARGUMENT', violations: [{ field: 'name' }] })
  }
  expect(await readState(org)).toEqual(before)
})

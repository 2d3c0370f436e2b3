// Sensor data as a caller who is limited to regions reads it: latest samples, both bulk answers, and histories. [contract 11.access]
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice, type TestDevice } from '../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../test/support/harness.ts'
import { newPerson, type TestPerson } from '../../../test/support/person.ts'

const noon = Date.UTC(2026, 2, 2, 12) / 1000
let harness: Harness
let org: TestOrg
/** Sees North only. */
let person: TestPerson
const devices: TestDevice[] = []
/** Rooms: Fjord (1) in North, Forum (2) in South, Cellar (3) in no region. */
const [fjord, forum, cellar] = [1, 2, 3]
let [inNorth, inSouth, inCellar, moved]: TestDevice[] = []

beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(noon * 1000)
  org = await harness.newOrg()
  const post = (path: string, body: object) => org.call('POST', path, { body })
  for (const name of ['North', 'South']) await post('/regions', { name })
  for (const [name, regionId] of Object.entries({ Oslo: 1, Rome: 2 })) await post('/locations', { name, regionId })
  for (const [name, locationId] of Object.entries({ Fjord: 1, Forum: 2, Cellar: 0 }))
    await post('/rooms', { name, locationId })
  for (const roomId of [fjord, forum, cellar, fjord]) devices.push(await newDevice(harness, org, { roomId }))
  ;[inNorth, inSouth, inCellar, moved] = devices
  for (const [i, device] of devices.entries()) {
    await device.publish('sample', { samples: [{ timestamp: noon - 60, people: i + 1, co2: 500 + i }] })
  }
  await post('/endpoints/move_paired', { roomId: forum, endpointIds: [moved?.id] })
  person = await newPerson(harness, org, { role: 'admin', regionIds: [1] })
})
afterAll(async () => {
  for (const device of devices) await device.close()
  await harness.close()
})

const asPerson = (path: string, headers: Record<string, string> = {}) =>
  org.call('GET', path, { key: person.key, headers })
const today = `from=${new Date((noon - 3600) * 1000).toISOString()}`

test('the bulk answers and their ETags are those of the visible region [contract 11.access]', async () => {
  for (const noun of ['endpoints', 'rooms']) {
    const seen = await asPerson(`/${noun}/sensor`)
    const ofRegion = await org.call('GET', `/${noun}/sensor?regionId=1`)
    const whole = await org.call('GET', `/${noun}/sensor`)
    expect(seen.text).toBe(ofRegion.text)
    expect(seen.headers.get('etag')).toBe(ofRegion.headers.get('etag'))
    expect(seen.headers.get('etag')).not.toBe(whole.headers.get('etag'))
    expect([seen.body.data.length, whole.body.data.length]).toEqual(noun === 'rooms' ? [1, 3] : [1, 4])
    for (const filter of ['regionId=2', 'locationId=2', 'regionId=77']) {
      expect((await asPerson(`/${noun}/sensor?${filter}`)).body.data, filter).toEqual([])
    }
  }
})

test('a cached answer for one caller never reaches another [contract 11.access]', async () => {
  const other = await newPerson(harness, org, { role: 'admin', regionIds: [2] })
  const idsSeenWith = async (key: string) =>
    (await org.call('GET', '/endpoints/sensor', { key })).body.data.map(({ id }: { id: string }) => id)
  for (let i = 0; i < 2; i++) {
    expect(await idsSeenWith(org.key)).toEqual(devices.map(({ id }) => id).sort())
    expect(await idsSeenWith(person.key)).toEqual([inNorth?.id])
    expect(await idsSeenWith(other.key)).toEqual([inSouth?.id, moved?.id].sort())
  }
})

test('without a visible endpoint roomsBulkSensorData is the 400 of an organisation that has none [contract 11.access]', async () => {
  const nothing = await newPerson(harness, org, { role: 'admin', regionIds: [] })
  const empty = await harness.newOrg()
  const expected = await empty.call('GET', '/rooms/sensor')
  const { status, body } = await org.call('GET', '/rooms/sensor', { key: nothing.key })
  expect([status, body.code, body.message]).toEqual([400, expected.body.code, expected.body.message])
})

test('an endpoint or room that is not visible is answered as an unknown one, in every form [contract 11.access]', async () => {
  const pathsOf = (noun: string, id: string | number) => [
    `/${noun}/${id}/sensor`,
    ...['15m', '1d', '5m', 'raw'].map((interval) => `/${noun}/${id}/sensor/history?${today}&interval=${interval}`),
  ]
  const hidden = [inSouth, inCellar, moved].map((device) => ['endpoints', device?.id ?? ''] as const)
  for (const [noun, id] of [...hidden, ['rooms', forum], ['rooms', cellar]] as const) {
    const unknown = noun === 'rooms' ? 4711 : randomUUID()
    for (const accept of ['application/json', 'text/csv']) {
      for (const [i, path] of pathsOf(noun, id).entries()) {
        const reply = await asPerson(path, { accept })
        const expected = await asPerson(pathsOf(noun, unknown)[i] ?? '', { accept })
        const withoutIds = (text: string, requestId: string, named: string | number) =>
          text.replace(requestId, '').replaceAll(String(named), 'ID')
        expect(expected.status, path).toBe(404)
        expect(withoutIds(reply.text, reply.body.requestId, id)).toBe(
          withoutIds(expected.text, expected.body.requestId, unknown),
        )
      }
    }
  }
})

test('visible ones are answered as to everybody [contract 11.access]', async () => {
  for (const path of [
    `/endpoints/${inNorth?.id}/sensor`,
    `/endpoints/${inNorth?.id}/sensor/history?${today}&interval=raw`,
    `/rooms/${fjord}/sensor`,
    `/rooms/${fjord}/sensor/history?${today}`,
  ]) {
    const seen = await asPerson(path)
    const expected = await org.call('GET', path)
    expect([seen.status, seen.text, seen.headers.get('etag')], path).toEqual([
      200,
      expected.text,
      expected.headers.get('etag'),
    ])
  }
})

test('the history of a room stays with the room, without the id of an endpoint that is elsewhere now [contract 11.access]', async () => {
  const path = `/rooms/${fjord}/sensor/history?${today}&interval=raw`
  const people = ({ samples }: { samples: { people: number; endpointId?: string }[] }) =>
    samples.map((sample) => [sample.people, sample.endpointId])
  const whole = people((await org.call('GET', path)).body)
  expect(whole).toContainEqual([4, moved?.id])
  const seen = people((await asPerson(path)).body)
  expect(seen).toEqual(whole.map(([count, id]) => [count, id === moved?.id ? undefined : id]))
  const csv = (await asPerson(path, { accept: 'text/csv' })).text
  expect(csv).toContain(inNorth?.id)
  expect(csv).not.toContain(moved?.id)
  expect(csv.split('\r\n').length).toBe(
    (await org.call('GET', path, { headers: { accept: 'text/csv' } })).text.split('\r\n').length,
  )
})

test('a page token of a history works for its caller only [contract 11.access]', async () => {
  const path = `/rooms/${fjord}/sensor/history?${today}&interval=raw&pageSize=1`
  const other = await newPerson(harness, org, { role: 'admin', regionIds: [1] })
  const { nextPageToken } = (await asPerson(path)).body
  const next = `${path}&pageToken=${nextPageToken}`
  const second = await asPerson(next)
  expect(second.status, second.text).toBe(200)
  const firstCharacter = nextPageToken.startsWith('B') ? 'C' : 'B'
  const forged = await asPerson(`${path}&pageToken=${firstCharacter}${nextPageToken.slice(1)}`)
  expect(forged.status).toBe(400)
  for (const key of [other.key, org.key]) {
    const { status, body } = await org.call('GET', next, { key })
    expect([status, body.message, body.details]).toEqual([400, forged.body.message, forged.body.details])
  }
})

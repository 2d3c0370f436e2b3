// Tests the operations on silences: who may make which, what is refused, and what a caller that is limited to regions sees. [contract 10.silence]
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Fixture, newFixture } from '../../../../test/support/fixture.ts'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'
import { newApiKey, newSession } from '../../../../test/support/places/callers.ts'
import {
  expectNothingChanged,
  expectSameAsUnknown,
  newTwoRegions,
} from '../../../../test/support/places/two-regions.ts'

let harness: Harness
let f: Fixture
beforeAll(async () => {
  harness = await startHarness()
  f = await newFixture(harness)
})
afterAll(() => harness.close())

const hourMs = 3_600_000
const inHours = (hours: number, now = harness.clock.now()) => new Date(now + hours * hourMs).toISOString()
const weekly = { days: ['sat', 'sun', 'sat'], from: '20:00', to: '05:00' }
const create = (body: object, caller = {}) => f.call('POST', '/silences', { body, ...caller })
const silence = (more: object = {}) => ({ place: { roomId: f.room }, reason: 'Painting.', to: inHours(2), ...more })
const idsOf = (body: { silences: { id: string }[] }) => body.silences.map(({ id }) => id)

test('a silence is made, listed until it ends, and ended', async () => {
  const org = await newFixture(harness)
  const to = inHours(2)
  const body = { place: { roomId: org.room }, reason: 'Painting.', rules: ['device.offline', 'device.offline'], to }
  const made = await org.call('POST', '/silences', { body })
  expect(made.headers.get('etag')).toBe('"1"')
  expect(made.body).toEqual({
    id: expect.stringMatching(/^\d+$/),
    place: { roomId: org.room },
    rules: ['device.offline'],
    reason: 'Painting.',
    from: expect.any(String),
    to,
    active: true,
    createdBy: { type: 'KEY', id: expect.any(String), name: 'Test key' },
  })
  const { id } = made.body
  const listed = async () => (await org.call('GET', '/silences')).body
  expect((await listed()).silences).toContainEqual(made.body)
  expect((await org.audit())[0]).toMatchObject({
    category: 'DEVICE',
    type: 'SILENCE_CREATED',
    target: { type: 'silence', id, name: 'Painting.' },
    details: { after: { roomId: org.room, reason: 'Painting.', to } },
  })
  const later = await org.call('POST', '/silences', { body: { ...body, from: inHours(1) } })
  expect(later.body.active).toBe(false)

  const stale = await org.call('DELETE', `/silences/${id}`, { headers: { 'if-match': '"2"' } })
  expect(stale.status).toBe(412)
  expect((await org.call('DELETE', `/silences/${id}`)).body).toEqual({})
  expect((await org.audit())[0]).toMatchObject({
    type: 'SILENCE_DELETED',
    target: { id },
    details: { before: { roomId: org.room } },
  })
  expect(idsOf(await listed())).not.toContain(id)
  expect(idsOf(await listed())).toContain(later.body.id)
  for (const unknown of [id, '999', 'x']) expect((await org.call('DELETE', `/silences/${unknown}`)).status).toBe(404)

  harness.clock.advance(2 * hourMs)
  expect(idsOf(await listed())).not.toContain(later.body.id)
  expect((await org.call('DELETE', `/silences/${later.body.id}`)).status, 'it has ended').toBe(404)
})

test('every kind of place can be silenced, and an unknown one is refused', async () => {
  for (const place of [
    { regionId: f.region },
    { locationId: f.location },
    { roomId: f.room },
    { endpointId: f.endpoint },
    { all: true },
  ]) {
    expect((await create(silence({ place }))).body.place).toEqual(place)
  }
  for (const [place, text] of [
    [{ regionId: 999 }, 'there is no region 999'],
    [{ locationId: 999 }, 'there is no location 999'],
    [{ roomId: 0 }, 'there is no room 0'],
    [{ endpointId: randomUUID() }, 'there is no endpoint '],
  ] as const) {
    const refused = await create(silence({ place }))
    expect(refused).toMatchObject({ status: 400, body: { code: 'FAILED_PRECONDITION' } })
    expect(refused.body.message).toContain(text)
  }
})

test('a body that says too little, too much or nonsense is refused with the name of the field', async () => {
  for (const [body, field] of [
    [silence({ place: {} }), 'place'],
    [silence({ place: { roomId: f.room, all: true } }), 'place'],
    [silence({ place: { endpointId: 'x' } }), 'place.endpointId'],
    [silence({ place: { all: false } }), 'place.all'],
    [{ place: { roomId: f.room }, reason: 'Painting.' }, 'to'],
    [silence({ to: inHours(-1), from: inHours(-2) }), 'to'],
    [silence({ from: inHours(3) }), 'to'],
    [silence({ reason: '' }), 'reason'],
    [silence({ rules: [] }), 'rules'],
    [silence({ rules: ['device.lost'] }), 'rules[0]'],
    [silence({ weekly: { ...weekly, from: '24:00' } }), 'weekly.from'],
    [silence({ weekly: { ...weekly, days: [] } }), 'weekly.days'],
  ] as const) {
    const refused = await create(body)
    expect(refused.body.code, refused.text).toBe('INVALID_ARGUMENT')
    expect(refused.body.message.startsWith(`Invalid request: ${field} `), refused.text).toBe(true)
  }
})

test('weekly hours are those of the location, and a weekly silence needs no end', async () => {
  const org = await newFixture(harness)
  await harness.services.db.systemTransaction(({ kysely }) =>
    kysely.updateTable('locations').set({ timezone: 'Pacific/Auckland' }).where('org', '=', org.org.key).execute(),
  )
  // The present hour in Auckland, and twelve or thirteen hours away from that in Oslo or UTC.
  const now = new Date(harness.clock.now())
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: 'Pacific/Auckland', hour: '2-digit', hourCycle: 'h23' })
  const hour = Number(format.format(now))
  const clock = (at: number) => `${String(at % 24).padStart(2, '0')}:00`
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
  const make = async (place: object, from: string, to: string) =>
    (await org.call('POST', '/silences', { body: { place, reason: 'Night.', weekly: { days, from, to } } })).body
  const present = await make({ roomId: org.room }, clock(hour), clock(hour + 1))
  expect(present).toMatchObject({ active: true, weekly: { days } })
  expect(present).not.toHaveProperty('to')
  expect((await make({ roomId: org.room }, clock(hour + 11), clock(hour + 14))).active).toBe(false)
  expect((await make({ regionId: org.region }, clock(hour), clock(hour + 1))).active).toBe(true)
  expect((await make({ endpointId: org.endpoint }, clock(hour), clock(hour + 1))).active).toBe(true)
})

test('more than 24 hours need write, the whole organisation needs all regions, and rules about security need manage', async () => {
  const operator = await newSession(harness, f, 'operator')
  const oneRegion = await newSession(harness, f, 'admin', [f.region])
  const writer = await newApiKey(f, { scopes: ['write'] })
  const manager = await newApiKey(f, { scopes: ['write'], manage: true })
  const allowed = async (caller: object, body: object) => {
    const reply = await create(body, caller)
    if (reply.status !== 200) expect(reply).toMatchObject({ status: 403, body: { code: 'PERMISSION_DENIED' } })
    return reply.status === 200
  }
  // The clock is read once: a silence that is a millisecond longer than a day needs the scope write.
  const now = harness.clock.now()
  const day = silence({ from: inHours(1, now), to: inHours(25, now) })
  const longer = silence({ to: inHours(24.5) })
  expect(await allowed(operator, day)).toBe(true)
  expect(await allowed(operator, longer)).toBe(false)
  expect(await allowed(operator, silence({ weekly }))).toBe(false)
  expect(await allowed(oneRegion, longer)).toBe(true)
  expect(await allowed(oneRegion, silence({ weekly }))).toBe(true)
  expect(await allowed(operator, silence({ place: { all: true } }))).toBe(false)
  expect(await allowed(oneRegion, silence({ place: { all: true } }))).toBe(false)
  expect(await allowed(writer, silence({ place: { all: true } }))).toBe(true)
  const security = silence({ rules: ['air.beyond', 'credential.shared'] })
  expect(await allowed(writer, security)).toBe(false)
  expect(await allowed(manager, security)).toBe(true)

  // Ending one needs what making it did.
  const made = async (body: object) => (await create(body)).body.id
  const status = async (caller: object, id: string) => (await f.call('DELETE', `/silences/${id}`, caller)).status
  expect(await status(operator, await made(longer))).toBe(403)
  expect(await status(oneRegion, await made(silence({ place: { all: true } })))).toBe(403)
  expect(await status(writer, await made(security))).toBe(403)
  expect(await status(operator, await made(day))).toBe(200)
})

test('a silence is visible with its place, or if it is of the whole organisation, and its audit entry with its place [contract 11.access]', async () => {
  const t = await newTwoRegions(harness)
  const places = (site: { location: number; room: number; endpoint: string }) => [
    { locationId: site.location },
    { roomId: site.room },
    { endpointId: site.endpoint },
  ]
  const made = async (place: object) =>
    (await t.org.call('POST', '/silences', { body: { place, reason: JSON.stringify(place), to: inHours(2) } })).body.id
  const mine: string[] = []
  for (const place of [{ regionId: t.mine.region }, ...places(t.mine)]) mine.push(await made(place))
  const hidden: string[] = []
  for (const place of [{ regionId: t.other.region }, ...places(t.other), ...places(t.nowhere)]) {
    hidden.push(await made(place))
  }
  const whole = await made({ all: true })
  expect(idsOf((await t.call('GET', '/silences')).body)).toEqual([...mine, whole])
  expect(idsOf((await t.org.call('GET', '/silences')).body)).toEqual([...mine, ...hidden, whole])

  const window = 'from=1970-01-01T00:00:00Z&to=9999-01-01T00:00:00Z'
  const { logs } = (await t.call('GET', `/audit/logs?${window}`)).body
  const seen = logs.filter((entry: { type: string }) => entry.type === 'SILENCE_CREATED').reverse()
  expect(seen.map((entry: { target: { id: string } }) => entry.target.id)).toEqual(mine)

  await expectNothingChanged(t, async () => {
    for (const id of hidden.filter((one) => one.length === 1)) {
      const answer = await expectSameAsUnknown(t, [id, '0'], (x) => ['DELETE', `/silences/${x}`])
      expect(answer.status).toBe(404)
    }
    const body = (place: object) => ({ place, reason: 'Hello.', to: inHours(2) })
    for (const [key, id] of [
      ['regionId', t.other.region],
      ['locationId', t.nowhere.location],
      ['roomId', t.other.room],
    ] as const) {
      const answer = await expectSameAsUnknown(t, [id, 9], (x) => ['POST', '/silences', body({ [key]: x })])
      expect(answer.status).toBe(400)
    }
  })
  expect((await t.call('DELETE', `/silences/${mine[0]}`)).status).toBe(200)
})

test('a silence of a place that was deleted is not listed any more', async () => {
  const room = (await f.call('POST', '/rooms', { body: { name: 'Short-lived', locationId: f.location } })).body.id
  const { id } = (await create(silence({ place: { roomId: room } }))).body
  expect(idsOf((await f.call('GET', '/silences')).body)).toContain(id)
  await f.call('DELETE', `/rooms/${room}`)
  expect(idsOf((await f.call('GET', '/silences')).body)).not.toContain(id)
})

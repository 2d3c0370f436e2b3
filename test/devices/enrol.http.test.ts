// Enrolment: a code that works becomes a device with a credential; everything else is refused and slowed.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { devicePaths } from '../../src/contract/device/protocol.ts'
import { enrolTestDevice, newDevice } from '../support/devices/test-device.ts'
import { type Harness, type Reply, startHarness, type TestOrg } from '../support/harness.ts'

let harness: Harness
let org: TestOrg
let room: number
let code: string
beforeEach(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
  const made = await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
  room = made.body.id
  code = made.body.dec
})
afterEach(() => harness.close())

const enrol = (body: object, headers: Record<string, string> = {}): Promise<Reply> =>
  harness.call('POST', devicePaths.enrol, { body: { code, serial: 'S1', model: 'NF19B1', ...body }, headers })
const entriesOf = async (type: string) => (await org.audit()).filter((e) => e.type === type)

test('a code, a serial and a model give an id, a credential and where to connect, audited once', async () => {
  const reply = await enrol({})
  expect(reply.status).toBe(200)
  expect(reply.body).toEqual({
    endpointId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    credential: expect.stringMatching(/^rkd_[0-9A-Za-z]{40}$/),
    connect: [
      `mqtt://${new URL(harness.services.publicUrl()).hostname}:${harness.mqttPort}`,
      `${harness.services.publicUrl().replace('http', 'ws')}${devicePaths.mqtt}`,
    ],
  })
  const endpoint = (await org.call('GET', `/endpoints/${reply.body.endpointId}`)).body
  expect(endpoint).toMatchObject({ serial: 'S1', model: 'NF19B1', roomId: room, roomName: 'Fjord', connected: false })
  const [entry, ...more] = await entriesOf('DEVICE_ENROLLED')
  expect(more).toEqual([])
  expect(entry).toMatchObject({
    category: 'DEVICE',
    actor: { type: 'DEVICE', id: 'S1' },
    target: { type: 'endpoint', id: reply.body.endpointId, name: 'Bar S1' },
    ip: '127.0.0.1',
  })
  expect(JSON.stringify(await org.audit())).not.toContain(reply.body.credential)
  expect(JSON.stringify(harness.logged)).not.toContain(reply.body.credential)
})

test('hyphens, spaces and case of a code do not matter [contract D.6]', async () => {
  expect((await enrol({ code: ` ${code.toLowerCase().replaceAll('-', ' ')} ` })).status).toBe(200)
  expect((await enrol({ code: code.replaceAll('-', ''), serial: 'S2' })).status).toBe(200)
})

test('the credential is stored hashed', async () => {
  const { credential } = (await enrol({})).body
  const rows = await harness.services.db.system.kysely.selectFrom('credential_directory').selectAll().execute()
  expect(rows).toHaveLength(1)
  expect(rows[0]?.hash.toString('latin1')).not.toContain(credential.slice(4, 20))
})

test('a wrong code is refused, without an entry, slowly, and after ten the address waits', async () => {
  const before = await org.audit()
  const started = performance.now()
  // Each node has a limit of its own.
  const count = 10 * harness.nodeUrls.length
  const replies = await Promise.all(Array.from({ length: count }, () => enrol({ code: 'AAAA-BBBB-CCCC' })))
  expect(performance.now() - started).toBeGreaterThan(450)
  expect(replies.map((r) => `${r.status} ${r.body.code}`)).toEqual(Array(count).fill('403 PERMISSION_DENIED'))
  // Also the right one: otherwise guessing on would pay.
  const limited = await enrol({})
  expect(limited.status).toBe(429)
  expect(limited.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  expect(await org.audit()).toEqual(before)
  harness.clock.advance(Number(limited.headers.get('retry-after')) * 1000)
  expect((await enrol({})).status).toBe(200)
})

test('right codes are not limited', async () => {
  for (let i = 0; i < 25; i++) expect((await enrol({ serial: `S${i}` })).status).toBe(200)
})

test('a code expires so many hours after its first use [contract 5.4.room]', async () => {
  harness.clock.fix(Date.UTC(2026, 4, 4))
  expect((await org.call('GET', `/rooms/${room}`)).body).toMatchObject({ decUsed: '-62135596800', decTimeout: 24 })
  await enrol({})
  expect((await org.call('GET', `/rooms/${room}`)).body.decUsed).toBe(String(Date.UTC(2026, 4, 4) / 1000))
  harness.clock.advance(23 * 3_600_000)
  expect((await enrol({ serial: 'S2' })).status).toBe(200)
  expect((await org.call('GET', `/rooms/${room}`)).body.decUsed).toBe(String(Date.UTC(2026, 4, 4) / 1000))
  harness.clock.advance(3_600_000)
  const late = await enrol({ serial: 'S3' })
  expect(late.status).toBe(403)
  expect(late.body.message).toContain('expired')
  expect((await org.call('GET', `/rooms/${room}`)).body).not.toHaveProperty('dec')
  expect((await org.call('GET', `/rooms/${room}/enrolment`)).body.code).toBe('FAILED_PRECONDITION')
  const [entry] = await entriesOf('DEVICE_ENROLMENT_REFUSED')
  expect(entry).toMatchObject({ target: { type: 'room', id: String(room) }, details: { after: { serial: 'S3' } } })
})

test('a code that was replaced is refused and audited; the new one works [contract 5.4.audit]', async () => {
  const fresh = (await org.call('POST', `/rooms/${room}/regenerate_dec`)).body.dec
  const old = await enrol({})
  expect(old.status).toBe(403)
  expect(old.body.message).toContain('replaced')
  expect(await entriesOf('DEVICE_ENROLMENT_REFUSED')).toHaveLength(1)
  expect((await enrol({ code: fresh })).status).toBe(200)
})

test('enrolling again keeps the id, moves to the room of the code, and kills the old credential', async () => {
  const device = await newDevice(harness, org, { roomId: room, serial: 'S1' })
  await device.publish('status', { firmwareVersion: '7' })
  const elsewhere = (await org.call('POST', '/rooms', { body: { name: 'Skog' } })).body
  const busy = await enrol({ code: elsewhere.dec })
  expect(`${busy.status} ${busy.body.code}`).toBe('409 ABORTED')
  expect(busy.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  await device.publish('status', { firmwareVersion: '8' })

  await device.close()
  await expect.poll(async () => (await org.call('GET', `/endpoints/${device.id}`)).body.connected).toBe(false)
  const again = await enrol({ code: elsewhere.dec })
  expect(again.body.endpointId).toBe(device.id)
  expect(again.body.credential).not.toBe(device.credential)
  const endpoint = (await org.call('GET', `/endpoints/${device.id}`)).body
  expect(endpoint).toMatchObject({ roomId: elsewhere.id, roomName: 'Skog', firmwareVersion: '8' })
  await expect(device.connect()).rejects.toMatchObject({ code: 5 })
})

test('the code of a room moves no device out of another region, and does not say where it is [contract 11.access]', async () => {
  const make = async (path: string, body: unknown) => (await org.call('POST', path, { body })).body
  const roomIn = async (name: string) => {
    const region = await make('/regions', { name })
    const location = await make('/locations', { name, regionId: region.id })
    return make('/rooms', { name, locationId: location.id })
  }
  const [north, south] = [await roomIn('North'), await roomIn('South')]
  const { endpointId } = (await enrol({ code: north.dec, serial: 'R1' })).body
  const refused = await enrol({ code: south.dec, serial: 'R1' })
  expect(`${refused.status} ${refused.body.code}`).toBe('400 FAILED_PRECONDITION')
  expect(refused.text).not.toMatch(new RegExp(`North|${endpointId}`))
  expect((await org.call('GET', `/endpoints/${endpointId}`)).body.roomId).toBe(north.id)
})

test('a serial of another organisation is refused, without saying where it is', async () => {
  const other = await harness.newOrg('Secret Ltd')
  const theirs = (await other.call('POST', '/rooms', { body: { name: 'Vault' } })).body
  const there = await enrol({ code: theirs.dec })
  const refused = await enrol({})
  expect(`${refused.status} ${refused.body.code}`).toBe('400 FAILED_PRECONDITION')
  expect(refused.text).not.toMatch(new RegExp(`Secret|Vault|${other.id}|${there.body.endpointId}`))
  await other.call('DELETE', `/endpoints/${there.body.endpointId}`)
  const here = await enrol({})
  expect(here.status).toBe(200)
  expect(here.body.endpointId).not.toBe(there.body.endpointId)
})

test('an endpoint that was unenrolled gets a new id [contract 4.endpointsDelete]', async () => {
  const first = (await enrol({})).body.endpointId
  await org.call('DELETE', `/endpoints/${first}`)
  expect((await enrol({})).body.endpointId).not.toBe(first)
})

test('an endpoint that enrols gets the profile of its room, and so a config version [contract 5.4.profile]', async () => {
  const { profile } = (await org.call('POST', '/profiles', { body: { name: 'Quiet', config: { nightMode: true } } }))
    .body
  await org.call('PUT', `/rooms/${room}/profile`, { body: { profileId: profile.id } })
  const device = await newDevice(harness, org, { roomId: room })
  expect(await device.next('config')).toEqual({ version: 1, config: { nightMode: true } })
  expect((await org.call('GET', `/endpoints/${device.id}`)).body.profileId).toBe(profile.id)
})

test('ten concurrent enrolments of one serial make one endpoint', async () => {
  const replies = await Promise.all(Array.from({ length: 10 }, () => enrol({})))
  expect(new Set(replies.map((r) => r.status))).toEqual(new Set([200]))
  expect(new Set(replies.map((r) => r.body.endpointId)).size).toBe(1)
  expect((await org.call('GET', '/endpoints')).body.endpoints).toHaveLength(1)
})

test('a value that is not valid is a 400 that names the field', async () => {
  for (const [body, field] of [
    [{ code: '' }, 'code'],
    [{ serial: '' }, 'serial'],
    [{ serial: 'x'.repeat(65) }, 'serial'],
    [{ serial: 'a\u0000b' }, 'serial'],
    [{ model: 5 }, 'model'],
    [{ code: null }, 'code'],
  ] as const) {
    const reply = await enrol(body)
    expect(`${reply.status} ${reply.body.code}`, JSON.stringify(body)).toBe('400 INVALID_ARGUMENT')
    expect(reply.body.violations[0].field, JSON.stringify(body)).toBe(field)
  }
})

test('the QR code of a room holds the address of its code', async () => {
  const { body } = await org.call('GET', `/rooms/${room}/enrolment`)
  expect(body.url).toBe(`${harness.services.publicUrl()}/enrol#${code}`)
  expect(body.qr).toMatch(/^<svg /)
  const page = await fetch(`${harness.url}/enrol`)
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(await page.text()).toContain('Enrolment code')
  expect(
    (await org.call('GET', `/rooms/${room}/enrolment`, { key: await org.newKey({ scopes: ['read'] }) })).status,
  ).toBe(403)
})

test('an unknown model is accepted [contract 5.1.models]', async () => {
  const { answer } = await enrolTestDevice(harness, org, { roomId: room, model: 'XX-9000' })
  expect((await org.call('GET', `/endpoints/${answer.endpointId}`)).body.model).toBe('XX-9000')
})

test('from elsewhere it takes HTTPS: its own, or that of a trusted proxy', async () => {
  const behind = await startHarness({ trustProxy: ['127.0.0.1'] })
  const there = await behind.newOrg()
  const { dec } = (await there.call('POST', '/rooms', { body: { name: 'Fjord' } })).body
  const from = (headers: Record<string, string>) =>
    behind.call('POST', devicePaths.enrol, {
      body: { code: dec, serial: 'S1', model: 'NF19B1' },
      headers: { 'x-forwarded-for': '203.0.113.5', ...headers },
    })
  const plain = await from({ 'x-forwarded-proto': 'http' })
  expect(`${plain.status} ${plain.body.code}`).toBe('400 FAILED_PRECONDITION')
  expect(plain.body.message).toContain('https://')
  expect((await from({ 'x-forwarded-proto': 'https' })).status).toBe(200)
  expect((await from({})).status).toBe(200)
  await behind.close()
})

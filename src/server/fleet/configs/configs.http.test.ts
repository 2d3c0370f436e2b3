// Tests device configs through HTTP: reading, applying, unsetting, refusals and concurrent writes.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { auditTarget } from '../../../../test/support/devices/audited-endpoint.ts'
import { newDevice } from '../../../../test/support/devices/test-device.ts'
import { type Call, type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

/** Makes an organisation with one endpoint that is not connected. */
async function newEndpoint() {
  const org = await harness.newOrg()
  const room = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  const { id, serial } = await newDevice(harness, org, { roomId: room, offline: true })
  const at = `/endpoints/${id}/config`
  const apply = (body: unknown, call: Call = {}) => org.call('POST', at, { body, ...call })
  return { ...org, room, endpoint: id, serial, at, apply }
}
type Endpoint = Awaited<ReturnType<typeof newEndpoint>>

const everythingOf = async ({ call, at, audit }: Endpoint) => [
  (await call('GET', at)).text,
  (await call('GET', `${at}/state`)).text,
  (await call('GET', `${at}/versions`)).text,
  await audit(),
]

test('an endpoint for which nothing was set has version 0, delivered and empty [contract 4.endpointsSettings]', async () => {
  const { call, at } = await newEndpoint()
  const settings = await call('GET', at)
  expect(settings.body).toEqual({})
  expect(settings.headers.get('etag')).toBe('"0"')
  const empty = { desired: {}, profile: {}, reported: {}, rejected: {} }
  expect((await call('GET', `${at}/state`)).body).toEqual({ version: 0, state: 'DELIVERED', ...empty })
  expect((await call('GET', `${at}/versions`)).body).toEqual({ versions: [] })
})

test('endpointsApplyConfig changes the sent keys only, null unsets one, and answers what GET would [contract 4.endpointsApplyConfig]', async () => {
  const e = await newEndpoint()
  const { id: other } = await newDevice(harness, e, { roomId: e.room, offline: true })
  const first = await e.apply({ nightMode: true, brightness: 0.5, fontSize: ' large ' })
  expect(first.body).toEqual({ config: { nightMode: true, brightness: 0.5, fontSize: 'large' } })
  expect(first.headers.get('etag')).toBe('"1"')
  const second = await e.apply({ nightMode: false, brightness: null, time24h: null })
  expect(second.body).toEqual({ config: { fontSize: 'large', nightMode: false } })
  const read = await e.call('GET', e.at)
  expect(read.body).toEqual(second.body.config)
  expect(read.headers.get('etag')).toBe('"2"')
  const [entry] = await e.audit()
  expect(entry).toMatchObject({
    category: 'DEVICE',
    type: 'DEVICE_CONFIG_CHANGED',
    target: auditTarget({ id: e.endpoint, serial: e.serial }),
  })
  expect(entry.details).toEqual({ before: { nightMode: true, brightness: 0.5 }, after: { nightMode: false } })
  expect((await e.call('GET', `/endpoints/${other}/config`)).body, 'another endpoint is left alone').toEqual({})
})

test('each apply makes a version and one audit entry, also when nothing changes [contract 5.3.versions]', async () => {
  const e = await newEndpoint()
  await e.apply({ nightMode: true })
  const entries = (await e.audit()).length
  for (const body of [{}, { nightMode: true }]) await e.apply(body)
  expect((await e.call('GET', e.at)).headers.get('etag')).toBe('"3"')
  const log = await e.audit()
  expect(log).toHaveLength(entries + 2)
  expect(log[0].details).toEqual({ before: {}, after: {} })
})

test.each([
  ['1.0', 'brightness'],
  ['0.850', 'brightness'],
  ['1e-1', 'brightness'],
  ['0', 'brightness'],
  ['-0.0', 'framingBoundaryDepth'],
  ['1.50E+2', 'framingBoundaryWidth'],
  ['0.1000000000000000055511151231257827', 'framingBoundaryRadius'],
  ['600000.0', 'screenStandby'],
])('the number %s is answered as it was written [contract 4.endpointsApplyConfig]', async (text, key) => {
  const e = await newEndpoint()
  await e.apply({ layoutMaxPersons: 4, fontSize: '1.0' })
  for (const raw of [`{"${key}": ${text}, "time24h": true}`, `{"deviceConfig":{"${key}":${text}}}`]) {
    const reply = await e.call('POST', e.at, { raw })
    expect(reply.text).toContain(`"${key}":${text}`)
    expect(reply.text, 'what was not sent is as ever').toContain('"fontSize":"1.0","')
    expect(reply.text).toContain('"layoutMaxPersons":4')
    expect((await e.call('GET', e.at)).body[key]).toBe(Number(text) + 0)
  }
})

test('in a body of more than 1,000 values the texts of numbers are not retained [contract 7.2]', async () => {
  const e = await newEndpoint()
  const send = (values: number) =>
    e.call('POST', e.at, { raw: `{"deviceConfig":{"brightness":1.0},"more":[${Array(values).fill('1.0')}]}` })
  expect((await send(900)).text).toContain('"brightness":1.0')
  expect((await send(1_100)).body).toEqual({ config: { brightness: 1 } })
  expect((await send(1_100)).text).not.toContain('1.0')
})

test('{"deviceConfig":{…}} around a config is taken off [contract 4.endpointsApplyConfig]', async () => {
  const e = await newEndpoint()
  const wrapped = await e.apply({ deviceConfig: { nightMode: true }, requestedBy: 'somebody' })
  expect(wrapped.body).toEqual({ config: { nightMode: true } })
  const before = await everythingOf(e)
  const refused: [body: unknown, field: string][] = [
    [{ deviceConfig: { nightMod: true } }, 'nightMod'],
    [{ deviceConfig: { nightMode: 1 } }, 'nightMode'],
    [{ deviceConfig: { nightMode: false }, brightness: 1 }, 'brightness'],
    [{ deviceConfig: null }, 'deviceConfig'],
    [{ deviceConfig: [] }, 'deviceConfig'],
    [{ deviceConfig: { deviceConfig: {} } }, 'deviceConfig'],
  ]
  for (const [body, field] of refused) {
    const reply = await e.apply(body)
    expect(reply.status, JSON.stringify(body)).toBe(400)
    expect(reply.body).toMatchObject({ code: 'INVALID_ARGUMENT', violations: [{ field }] })
  }
  expect(await everythingOf(e)).toEqual(before)
})

test('a wrong value or an unknown key is a violation that names it, and nothing is applied [contract 4.endpointsApplyConfig] [contract 1.7]', async () => {
  const e = await newEndpoint()
  await e.apply({ highContrast: true })
  const before = await everythingOf(e)
  const faulty = {
    ...{ highContrast: false, nightMode: 'yes', brightness: 1.01, layoutMaxPersons: 1.5, usbMode: 'FAST' },
    ...{ timezone: 'Mars/Olympus', fontSize: '', settingsPassword: 7, brightnes: 0.5, toString: 1, primaryMode: 5 },
  }
  const { status, body } = await e.apply(faulty)
  expect(status).toBe(400)
  const { highContrast: _, ...wrong } = faulty
  expect(body.violations.map((v: { field: string }) => v.field).sort()).toEqual(Object.keys(wrong).sort())
  for (const raw of [
    '{"brightness":1e999}',
    '{"__proto__":{"nightMode":true}}',
    `{"deviceConfig":${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
    '{"nightMode":true',
    'null',
  ]) {
    expect((await e.call('POST', e.at, { raw })).body.code, raw.slice(0, 40)).toBe('INVALID_ARGUMENT')
  }
  expect(await everythingOf(e)).toEqual(before)
})

test('read-only keys are shown as the device reports them; only with their present value may they be sent [contract 4.endpointsSettings] [contract 4.endpointsApplyConfig]', async () => {
  const org = await harness.newOrg()
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  const device = await newDevice(harness, org, { roomId, pairingSerial: 'LEADER1' })
  const at = `/endpoints/${device.id}/config`
  await device.publish('status', { primaryMode: 'zoom', controllerMode: 'schedule', timezone: 'Europe/Oslo' })
  const others = {
    neatOtaChannel: 'beta',
    scheduledUpdateDelay: 3,
    framingBoundaryHfovRatio: 0.25,
    multiDevicePbp: true,
  }
  await device.publish('config', { version: 0, config: { ...others, nightMode: true } })
  const shown = { primaryMode: 'zoom', controllerMode: 'schedule', pairingSerial: 'LEADER1', ...others }
  expect((await org.call('GET', at)).body).toEqual({ ...shown, nightMode: true })

  const { framingBoundaryHfovRatio: _, ...rest } = shown
  const raw = `${JSON.stringify({ time24h: true, ...rest }).slice(0, -1)},"framingBoundaryHfovRatio":0.250}`
  const sentBack = await org.call('POST', at, { raw })
  expect(sentBack.body).toEqual({ config: { time24h: true, ...shown, nightMode: true } })
  expect(sentBack.text).toContain('"framingBoundaryHfovRatio":0.250')
  const before = await org.audit()
  expect(before[0].details).toEqual({ before: {}, after: { time24h: true } })
  const refused = await org.call('POST', at, { body: { time24h: false, primaryMode: 'msteams', neatOtaChannel: null } })
  expect(refused.status).toBe(400)
  expect(refused.body.violations.map((v: { field: string }) => v.field).sort()).toEqual([
    'neatOtaChannel',
    'primaryMode',
  ])
  expect((await org.call('GET', at)).body.time24h).toBe(true)
  expect(await org.audit()).toEqual(before)
  await device.close()
})

test('a password is taken, and never answered, logged or stored in clear text [contract 5.3] [contract 5.3.versions]', async () => {
  const e = await newEndpoint()
  const words = ['correct-horse-battery', 'staple-1234567890']
  const [first, second] = words
  const replies = [
    await e.apply({ nightMode: true, settingsPassword: first, remoteAccessAdminPassword: first }),
    await e.apply({ settingsPassword: second }),
    await e.apply({ settingsPassword: second, time24h: true }),
    await e.apply({ settingsPassword: first, nightMode: 'oops' }),
    await e.apply({ remoteAccessAdminPassword: null }),
    await e.call('POST', `${e.at}/versions/1/restore`),
    await e.call('GET', e.at),
    await e.call('GET', `${e.at}/state`),
    await e.call('GET', `${e.at}/versions`),
    await e.call('GET', `${e.at}/versions/2`),
  ]
  expect(replies.map((r) => r.status)).toEqual([200, 200, 200, 400, 200, 200, 200, 200, 200, 200])
  expect(replies[0]?.body).toEqual({ config: { nightMode: true } })
  const tables = await Promise.all(
    (['endpoint_configs', 'config_versions'] as const).map((table) =>
      harness.services.db.system.kysely.selectFrom(table).selectAll().where('endpoint_id', '=', e.endpoint).execute(),
    ),
  )
  expect(tables[1]).toHaveLength(5)
  const log = await e.audit()
  const everything = JSON.stringify([replies.map((r) => r.text), log, harness.logged, tables])
  for (const word of words.flatMap((w) => [w, Buffer.from(w).toString('base64').slice(0, -4)])) {
    expect(everything).not.toContain(word)
  }
  const diffs = replies[8]?.body.versions.map((v: { diff: object }) => v.diff)
  expect(diffs, 'a diff shows only that one changed').toEqual([
    {
      remoteAccessAdminPassword: { after: '***' },
      settingsPassword: { before: '***', after: '***' },
      time24h: { before: true },
    },
    { remoteAccessAdminPassword: { before: '***' } },
    { time24h: { after: true } },
    { settingsPassword: { before: '***', after: '***' } },
    {
      nightMode: { after: true },
      remoteAccessAdminPassword: { after: '***' },
      settingsPassword: { after: '***' },
    },
  ])
  const applied = log.filter((l) => l.type === 'DEVICE_CONFIG_CHANGED').map((l) => l.details)
  expect(applied[3]).toEqual({ before: { settingsPassword: '***' }, after: { settingsPassword: '***' } })
})

test('a stale If-Match is a 412; of those that write at once with the same one, one wins and no version is missing [contract 7.9] [contract 7.11]', async () => {
  const e = await newEndpoint()
  for (let version = 0; version < 5; version++) {
    const headers = { 'if-match': `"${version}"` }
    const attempts = Array.from({ length: 8 }, (_, i) => e.apply({ layoutMaxPersons: version * 10 + i }, { headers }))
    const replies = await Promise.all(attempts)
    const winners = replies.filter((r) => r.status === 200)
    expect(winners).toHaveLength(1)
    expect(winners[0]?.headers.get('etag')).toBe(`"${version + 1}"`)
    expect(replies.filter((r) => r.status === 412)).toHaveLength(7)
    expect((await e.call('GET', e.at)).body).toEqual(winners[0]?.body.config)
  }
  await Promise.all(Array.from({ length: 10 }, (_, i) => e.apply({ layoutMaxPersons: i })))
  const { versions } = (await e.call('GET', `${e.at}/versions`)).body
  expect(versions.map((v: { version: number }) => v.version)).toEqual(Array.from({ length: 15 }, (_, i) => 15 - i))
  expect(versions.map((v: { state: string }) => v.state)).toEqual(['PENDING', ...Array(14).fill('SUPERSEDED')])
})

test('an endpoint that does not exist has no config [contract 1.5]', async () => {
  const org: TestOrg = await harness.newOrg()
  for (const id of ['5a2f4f3e-8f2c-4f5f-9b0e-3f1f6f0c7a11', 'x', '7', '%00']) {
    const at = `/endpoints/${id}/config`
    const replies = [
      await org.call('GET', at),
      await org.call('POST', at, { body: {}, headers: { 'if-match': '"9"' } }),
      await org.call('GET', `${at}/versions`),
      await org.call('GET', `${at}/versions/1`),
      await org.call('POST', `${at}/versions/1/restore`),
      await org.call('GET', `${at}/state`),
    ]
    expect(replies.map((r) => `${r.status} ${r.body.code}`)).toEqual(Array(6).fill('404 NOT_FOUND'))
  }
})

// Tests profiles and of the table of config keys, through HTTP.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const create = ({ call }: TestOrg, config: unknown, name = 'Quiet rooms') =>
  call('POST', '/profiles', { body: { name, config } })
const put = ({ call }: TestOrg, config: unknown, name = 'Quiet rooms') =>
  call('PUT', '/profiles/1', { body: { name, config } })
const rowOf = ({ org }: TestOrg, id = 1) =>
  harness.services.db.system.kysely
    .selectFrom('profiles')
    .selectAll()
    .where('org', '=', org.key)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
const sealedIn = async (org: TestOrg) => JSON.parse((await rowOf(org)).secrets)
const stateOf = async ({ call, audit }: TestOrg) => [(await call('GET', '/profiles')).text, await audit()]

test('a profile is answered with its config, and listed without it [contract 6.profiles]', async () => {
  const { call, audit } = await harness.newOrg()
  const body = { name: 'Quiet rooms', description: 'Dark\nand silent', config: { nightMode: true, brightness: 0.4 } }
  const created = await call('POST', '/profiles', { body })
  const { configId } = created.body.profile
  const profile = { id: 1, name: 'Quiet rooms', description: 'Dark\nand silent', configId }
  expect(configId).toEqual(expect.any(Number))
  expect(created.body).toEqual({ profile, config: body.config })
  expect((await call('GET', '/profiles/1')).body).toEqual(created.body)
  expect((await call('GET', '/profiles')).body).toEqual({ profiles: [profile] })
  expect((await call('GET', '/profiles/2')).status).toBe(404)
  expect((await audit())[0]).toMatchObject({ category: 'ORG', type: 'PROFILE_CREATED', target: { id: '1' } })
})

const booleans =
  'allowNeatShare autoWakeup automaticUpdates bluetooth byodMode concurrentAudioOverHdmi deepNoiseSuppression frameRatePreferred hdmiCecControl hdmiScreenMirroring hdmiSleepSignal hideSlideOutMenu highContrast muteInternalLoudspeaker nightMode padMicEnabled remoteAccessEnabled screenDetection screenReader screenStayOn settingsPasswordRequired shareAnalytics time24h usbAudio usbExtenderSupport wifiEnabled'
const texts = 'colorCorrection dateFormat fontSize language logLevel ntpServer'
const everyKey = {
  ...Object.fromEntries(booleans.split(' ').map((key) => [key, false])),
  ...{ brightness: 0.85, framingBoundaryDepth: 2.5, framingBoundaryRadius: 1e-3, framingBoundaryWidth: -7 },
  ...{ screenStandby: 600_000, digitalSignageTimeout: 0, layoutMaxPersons: 4 },
  ...Object.fromEntries(texts.split(' ').map((key) => [key, 'any text 🏔'])),
  ...{ timezone: 'Europe/Oslo', defaultFramingMode: 'GROUP', layoutPriorityContext: 'PRIORITY_CONTEXT_EQUAL' },
  ...{ temperatureUnit: 'TEMPERATURE_UNIT_CELSIUS', usbMode: 'AUTO' },
  usbCableInstructions: 'USB_CABLE_INSTRUCTIONS_HDMI_USB_A',
}

test('every key of the contract is accepted and returned, except the passwords [contract 5.3]', async () => {
  const org = await harness.newOrg()
  const created = await create(org, { ...everyKey, remoteAccessAdminPassword: 'a', settingsPassword: 'b' })
  expect(created.body.config).toEqual(everyKey)
})

test.each([
  ['brightness', [0, 1, 0.85]],
  ['layoutMaxPersons', [2147483647, -2147483648]],
  ['ntpServer', ['x', '🏔'.repeat(255), `  ${'x'.repeat(255)}  `]],
  ['timezone', ['UTC', 'America/Argentina/Buenos_Aires', 'Africa/Istanbul']],
  ['defaultFramingMode', ['FRAMING_MODE_UNKNOWN', 'DISABLED', 'SPEAKER', 'FRAMING_MODE_GROUP', 'FRAMING_MODE_SPEAKER']],
  ['usbMode', ['USB_MODE_UNKNOWN', 'PERIPHERAL', 'MANUAL', 'USB_MODE_AUTO', 'USB_MODE_PERIPHERAL']],
  ['layoutPriorityContext', ['PRIORITY_CONTEXT_UNKNOWN', 'PRIORITY_CONTEXT_ROOM', 'PRIORITY_CONTEXT_INDIVIDUAL']],
  ['temperatureUnit', ['TEMPERATURE_UNIT_UNKNOWN', 'TEMPERATURE_UNIT_FAHRENHEIT']],
])('%s takes every value that the contract allows [contract 5.3]', async (key, values) => {
  const org = await harness.newOrg()
  for (const value of values) {
    const { config } = (await create(org, { [key]: value })).body
    expect(config[key]).toBe(typeof value === 'string' ? value.trim() : value)
  }
})

test.each([
  ['nightMode', ['true', 1, 'false', [], {}]],
  ['brightness', ['0.5', -0.01, 1.01, true, [0.5]]],
  ['layoutMaxPersons', [1.5, 2147483648, -2147483649, '4', true]],
  ['fontSize', ['', '  ', 'x'.repeat(256), '🏔'.repeat(256), 12, false, 'a\nb', '\u0000']],
  ['settingsPassword', ['', 'x'.repeat(256), 1234, 'a\u0007']],
  ['timezone', ['Mars/Olympus', 'Europe/Oslo2', 'nonsense', '', 7]],
  ['defaultFramingMode', ['group', 'UNKNOWN', 'EVERYBODY', 'FRAMING_MODE_', '', 1]],
  ['layoutPriorityContext', ['EQUAL', '_EQUAL', 'PRIORITY_CONTEXT_EVERY']],
  ['temperatureUnit', ['CELSIUS', 'TEMPERATURE_UNIT_KELVIN']],
  ['usbCableInstructions', ['USB_C_ONLY', 'USB_CABLE_INSTRUCTIONS_HDMI']],
  ['usbMode', ['UNKNOWN', 'USB_MODE_FAST', 'auto']],
  ['primaryMode', ['zoom']],
  ['brightnes', [0.5, null]],
  ['toString', [true]],
])('a wrong %s is a 400 that names it [contract 5.3] [contract 1.7]', async (key, values) => {
  const org = await harness.newOrg()
  await create(org, { highContrast: true })
  const before = await stateOf(org)
  for (const value of values) {
    for (const send of [create, put]) {
      const refused = await send(org, { highContrast: false, [key]: value })
      expect(refused.status, JSON.stringify(value)).toBe(400)
      expect(refused.body).toMatchObject({ code: 'INVALID_ARGUMENT', violations: [{ field: `config.${key}` }] })
      expect(refused.body.violations).toHaveLength(1)
      expect(refused.body.message).toContain(key)
    }
  }
  expect(await stateOf(org)).toEqual(before)
})

test('a config with many faults gets one violation per key [contract 4.endpointsApplyConfig]', async () => {
  const org = await harness.newOrg()
  const before = await stateOf(org)
  const faulty = { nightMode: 1, brightness: 2, usbMode: 'FAST', timezone: 'x/y', colour: 'red', time24h: true }
  const { violations } = (await create(org, faulty)).body
  const wrong = ['brightness', 'colour', 'nightMode', 'timezone', 'usbMode'].map((key) => `config.${key}`)
  expect(violations.map((v: { field: string }) => v.field).sort()).toEqual(wrong)
  expect(await stateOf(org)).toEqual(before)
})

test.each([
  '{"framingBoundaryDepth":1e999}',
  '{"framingBoundaryDepth":-1e999}',
  '{"brightness":1e999}',
  '{"__proto__":{"nightMode":true}}',
  '{"\\ud800":1}',
  'null',
  '[]',
])('the config %s is refused, and nothing is made [contract 5.3] [contract 1.7]', async (config) => {
  const org = await harness.newOrg()
  const before = await stateOf(org)
  const refused = await org.call('POST', '/profiles', { raw: `{"name":"x","config":${config}}` })
  expect(refused.status).toBe(400)
  expect(refused.body.code).toBe('INVALID_ARGUMENT')
  expect(await stateOf(org)).toEqual(before)
})

test('profilesUpdate replaces name, description and config; null and absence drop a key [contract D.12]', async () => {
  const org = await harness.newOrg()
  await org.call('POST', '/profiles', {
    body: { name: 'Quiet', description: 'Old', config: { nightMode: true, brightness: 0.4, fontSize: 'large' } },
  })
  const other = (await create(org, { time24h: true }, 'Other')).body
  const etag = (await org.call('GET', '/profiles/1')).headers.get('etag')
  const updated = await put(org, { nightMode: null, fontSize: 'small' }, 'Loud')
  expect(updated.body).toEqual({
    profile: { id: 1, name: 'Loud', configId: updated.body.profile.configId },
    config: { fontSize: 'small' },
  })
  expect(updated.headers.get('etag')).not.toBe(etag)
  expect((await org.call('GET', '/profiles/1')).body).toEqual(updated.body)
  expect((await org.call('GET', '/profiles/2')).body).toEqual(other)
  const stale = { body: { name: 'x', config: {} }, headers: { 'if-match': etag ?? '' } }
  const before = await stateOf(org)
  expect((await org.call('PUT', '/profiles/1', stale)).status).toBe(412)
  expect((await org.call('PUT', '/profiles/9', stale)).status).toBe(404)
  expect((await org.call('PUT', '/profiles/1', { body: { name: 'x' } })).body.violations).toMatchObject([
    { field: 'config' },
  ])
  expect(await stateOf(org)).toEqual(before)
})

test('a password is never answered, logged or stored in clear text [contract 5.3] [contract 5.3.versions]', async () => {
  const org = await harness.newOrg()
  const words = ['correct-horse-battery', 'staple-1234567890']
  const replies = [
    await create(org, { nightMode: true, settingsPassword: words[0], remoteAccessAdminPassword: words[0] }),
    await put(org, { nightMode: true, settingsPassword: words[1] }),
    await put(org, { nightMode: 'oops', settingsPassword: words[0] }),
    await org.call('GET', '/profiles/1'),
    await org.call('GET', '/profiles'),
  ]
  expect(replies.map((r) => r.status)).toEqual([200, 200, 400, 200, 200])
  const log = await org.audit()
  const everything = JSON.stringify([replies.map((r) => r.text), log, harness.logged, await rowOf(org)])
  for (const word of words.flatMap((w) => [w, Buffer.from(w).toString('base64').slice(0, -4)])) {
    expect(everything).not.toContain(word)
  }
  expect(replies[0]?.body.config).toEqual({ nightMode: true })
  const { before, after } = log[0].details
  expect(Object.keys(after.config).sort()).toEqual(['nightMode', 'remoteAccessAdminPassword', 'settingsPassword'])
  expect(after.config.settingsPassword, 'a diff shows that it changed').not.toBe(before.config.settingsPassword)
  expect(after.config.remoteAccessAdminPassword).toBe(before.config.remoteAccessAdminPassword)
})

test('a PUT without a password leaves the stored one, and null removes it [contract D.12]', async () => {
  const org = await harness.newOrg()
  await create(org, { settingsPassword: 'hunter2', remoteAccessAdminPassword: 'hunter3' })
  const sealed = await sealedIn(org)
  expect(Object.keys(sealed).sort()).toEqual(['remoteAccessAdminPassword', 'settingsPassword'])
  await put(org, { nightMode: true })
  expect(await sealedIn(org)).toEqual(sealed)
  await put(org, { settingsPassword: null })
  expect(await sealedIn(org)).toEqual({ remoteAccessAdminPassword: sealed.remoteAccessAdminPassword })
})

test('configId changes exactly when the config does [contract D.7]', async () => {
  const org = await harness.newOrg()
  const start = { nightMode: true, brightness: 1, settingsPassword: 'hunter2' }
  let configId = (await create(org, start)).body.profile.configId
  const seen = new Set([configId])
  const steps: [changes: boolean, config: string, name?: string][] = [
    [false, '{"nightMode":true,"brightness":1}'],
    [false, '{"settingsPassword":"hunter2","brightness":1.0,"nightMode":true,"time24h":null}', 'Renamed'],
    [true, '{"nightMode":true,"brightness":0.5}'],
    [true, '{"nightMode":true}'],
    [true, '{"nightMode":true,"settingsPassword":"hunter3"}'],
    [false, '{"nightMode":true,"settingsPassword":"hunter3"}'],
    [true, '{"nightMode":true,"settingsPassword":null}'],
    [false, '{"nightMode":true,"settingsPassword":null}'],
    [true, '{}'],
  ]
  for (const [changes, config, name = 'x'] of steps) {
    const raw = `{"name":"${name}","config":${config}}`
    const { profile } = (await org.call('PUT', '/profiles/1', { raw })).body
    expect(profile.configId !== configId, config).toBe(changes)
    expect(changes && seen.has(profile.configId), 'an earlier number does not come back').toBe(false)
    configId = profile.configId
    seen.add(configId)
  }
})

test.each(['a room', 'an endpoint'])('profilesDelete fails while %s has it [contract 5.4.profile]', async (holder) => {
  const org = await harness.newOrg()
  for (const name of ['Quiet', 'Spare']) await create(org, { nightMode: true }, name)
  await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
  const device = { id: randomUUID(), serial: 'S1', pairing_serial: null, model: 'NF19B1', status: '{}' }
  const rest = { number: 1, version: 1, room_id: null, connection_time: null, enrolment_time: 0 }
  const assign = async (profile_id: number | null) => {
    if (holder === 'a room') await org.call('PUT', '/rooms/1/profile', { body: { profileId: profile_id } })
    else
      await harness.services.db.systemTransaction(async ({ kysely }) => {
        await kysely.deleteFrom('endpoints').where('id', '=', device.id).execute()
        await kysely
          .insertInto('endpoints')
          .values({ org: org.org.key, profile_id, ...device, ...rest })
          .execute()
      })
  }
  await assign(1)
  const before = await stateOf(org)
  const refused = await org.call('DELETE', '/profiles/1')
  expect(refused.status).toBe(400)
  expect(refused.body.code).toBe('FAILED_PRECONDITION')
  expect(refused.body.message).toMatch(/^Operation preconditions not met: profile 1 /)
  expect(await stateOf(org)).toEqual(before)

  await assign(null)
  expect((await org.call('DELETE', '/profiles/1')).body).toEqual({})
  expect((await org.call('GET', '/profiles')).body.profiles).toMatchObject([{ id: 2, name: 'Spare' }])
  expect((await org.audit())[0]).toMatchObject({ type: 'PROFILE_DELETED', target: { id: '1', name: 'Quiet' } })
  expect((await org.call('DELETE', '/profiles/1')).status).toBe(404)
  expect((await create(org, {})).body.profile.id, 'no id comes back').toBe(3)
})

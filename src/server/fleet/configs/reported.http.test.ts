// Tests the settings of an endpoint that only its device reports: which are shown, their ETag, and clients that send all of them back.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice } from '../../../../test/support/devices/test-device.ts'
import { type Call, type Harness, startHarness } from '../../../../test/support/harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

/** Makes an organisation with one connected device that reports these settings. */
async function newReporting(config: Record<string, unknown>, status: object = { primaryMode: 'zoom' }) {
  const org = await harness.newOrg()
  const room = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  const device = await newDevice(harness, org, { roomId: room })
  const at = `/endpoints/${device.id}/config`
  const report = (settings: Record<string, unknown>, version = 0) =>
    device.publish('config', { version, config: settings as Record<string, string> })
  await report(config)
  await device.publish('status', status)
  return {
    ...org,
    room,
    device,
    at,
    report,
    read: (headers: Record<string, string> = {}) => org.call('GET', at, { headers }),
    apply: (body: unknown, call: Call = {}) => org.call('POST', at, { body, ...call }),
    desired: async () => (await org.call('GET', `${at}/state`)).body.desired,
  }
}

const factory = { nightMode: false, brightness: 0.8, fontSize: 'default', usbMode: 'AUTO', screenStandby: 600_000 }

test('keys that the device reports come last, and only where nothing is set and no profile locks them [contract 4.endpointsSettings]', async () => {
  const e = await newReporting(factory)
  expect((await e.read()).body).toEqual({ primaryMode: 'zoom', ...factory })
  const applied = await e.apply({ usbMode: 'MANUAL', time24h: true })
  const shown = { time24h: true, usbMode: 'MANUAL', primaryMode: 'zoom' }
  const rest = { brightness: 0.8, fontSize: 'default', nightMode: false, screenStandby: 600_000 }
  expect(applied.text).toBe(JSON.stringify({ config: { ...shown, ...rest } }))
  expect((await e.read()).text).toBe(JSON.stringify({ ...shown, ...rest }))
  expect(await e.desired(), 'only what was set').toEqual({ time24h: true, usbMode: 'MANUAL' })

  const profile = { name: 'Quiet', config: { nightMode: true, fontSize: 'large', usbMode: 'AUTO' } }
  const { id } = (await e.call('POST', '/profiles', { body: profile })).body.profile
  await e.call('PUT', `/rooms/${e.room}/profile`, { body: { profileId: id } })
  const free = { time24h: true, primaryMode: 'zoom', brightness: 0.8, screenStandby: 600_000 }
  expect((await e.read()).body, 'a locked key is left out, reported or set').toEqual(free)
  await e.call('PUT', `/rooms/${e.room}/profile`, { body: { profileId: null } })
  await e.apply({ usbMode: null })
  expect((await e.read()).body, 'an unset key has the reported value').toMatchObject({ usbMode: 'AUTO' })
  await e.device.close()
})

test('a reported password, unknown key or value that could not be sent back is not shown [contract 4.endpointsSettings]', async () => {
  const word = 'correct-horse-battery'
  const e = await newReporting({
    ...{ settingsPassword: word, remoteAccessAdminPassword: word, unheardOf: true, toString: 'x' },
    ...{
      nightMode: 'yes',
      brightness: 7,
      usbMode: 'FAST',
      timezone: 'Mars/Olympus',
      logLevel: 'a\tb',
      fontSize: ' ',
    },
    ...{ language: ' nb ', highContrast: true },
  })
  const { body } = await e.read()
  expect(body).toEqual({ primaryMode: 'zoom', language: 'nb', highContrast: true })
  expect((await e.apply({ ...body, settingsPassword: word })).body).toEqual({ config: body })
  expect((await e.apply(body)).status, 'every shown value may be sent').toBe(200)
  expect(await e.desired()).toEqual({})
  const answers = [await e.read(), await e.call('GET', `${e.at}/state`), await e.call('GET', `${e.at}/versions`)]
  expect(answers.map(({ text }) => text).join()).not.toContain(word)
  await e.device.close()
})

test('a client that reads all, changes one key and sends everything back sets that key only [contract 4.endpointsApplyConfig]', async () => {
  const e = await newReporting(factory)
  await e.apply({ fontSize: 'large', layoutMaxPersons: 4 })
  const all = (await e.read()).body
  const changed = await e.apply({ deviceConfig: { ...all, brightness: 0.5 } })
  expect(changed.body).toEqual({ config: { ...all, brightness: 0.5 } })
  expect(await e.desired()).toEqual({ brightness: 0.5, fontSize: 'large', layoutMaxPersons: 4 })
  const [entry] = await e.audit()
  expect(entry.details).toEqual({ before: {}, after: { brightness: 0.5 } })
  const raw = JSON.stringify({ ...all, brightness: 0.5 }).replace('600000', '600000.0')
  const repeated = await e.call('POST', e.at, { raw })
  expect(repeated.text, 'numbers keep their text').toContain('"screenStandby":600000.0')
  await e.apply({ ...all, brightness: null, fontSize: null, nightMode: true, time24h: true })
  expect(await e.desired(), 'unset and new keys work too').toEqual({
    layoutMaxPersons: 4,
    nightMode: true,
    time24h: true,
  })
  await e.device.close()
})

test('a key that is sent alone is set, even with the value that the device has [contract 4.endpointsApplyConfig]', async () => {
  const e = await newReporting(factory)
  expect((await e.apply({ nightMode: false })).body.config.nightMode).toBe(false)
  expect(await e.desired()).toEqual({ nightMode: false })
  expect(await e.device.next('config')).toEqual({ version: 1, config: { nightMode: false } })
  await e.apply({ ...factory, brightness: 0.8 })
  expect(await e.desired(), 'without the read-only keys it is not the whole answer').toEqual(factory)
  await e.device.close()
})

test('the ETag changes with what the device reports, and If-Match looks at the version alone [contract 7.9] [contract 7.11]', async () => {
  const e = await newReporting(factory)
  const first = await e.read()
  const etag = first.headers.get('etag') ?? ''
  expect(etag).toMatch(/^"0-[\w-]+"$/)
  expect((await e.read({ 'if-none-match': etag })).status).toBe(304)
  expect((await e.read({ 'if-none-match': '"0"' })).status, 'the version alone is not the answer').toBe(200)

  await e.report({ ...factory, brightness: 0.3 })
  const changed = await e.read({ 'if-none-match': etag })
  expect(changed.status).toBe(200)
  expect(changed.body.brightness).toBe(0.3)
  await e.device.publish('status', { primaryMode: 'msteams' })
  const now = changed.headers.get('etag') ?? ''
  expect((await e.read({ 'if-none-match': now })).body.primaryMode, 'read-only keys count too').toBe('msteams')
  await e.device.publish('status', { primaryMode: 'zoom', inCallStatus: 'ZOOM' })
  expect((await e.read({ 'if-none-match': now })).status, 'the body is equal again').toBe(304)

  const written = await e.apply({ nightMode: true }, { headers: { 'if-match': etag } })
  expect(written.status, 'reports do not make a write fail').toBe(200)
  expect(written.headers.get('etag'), 'as GET has it').toBe((await e.read()).headers.get('etag'))
  for (const tag of [etag, now, '"0"', '"0-x"', 'W/"1"', '"1', '"1 -x"', '"-x"']) {
    const stale = await e.apply({ nightMode: false }, { headers: { 'if-match': tag } })
    expect([tag, stale.status, stale.body.code]).toEqual([tag, 412, 'ABORTED'])
    expect(stale.headers.get('etag')).toBe('"1"')
  }
  for (const [n, tag] of ['"1"', '"2-anything"', '"0", "3-x"'].entries()) {
    const current = await e.apply({ layoutMaxPersons: n }, { headers: { 'if-match': tag } })
    expect([tag, current.status]).toEqual([tag, 200])
  }
  const restored = { headers: { 'if-match': (await e.read()).headers.get('etag') ?? '' } }
  expect((await e.call('POST', `${e.at}/versions/1/restore`, restored)).status).toBe(200)
  await e.device.close()
})

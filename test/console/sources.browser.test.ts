// Tests what people do with sources in the browser, with a gateway that speaks the protocol of gateways itself.
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { devicePaths } from '../../src/contract/device/protocol.ts'
import { minuteMs } from '../../src/contract/durations.ts'
import { checksDarkDialog, expectAccessible, phone } from '../support/console/accessibility.ts'
import {
  closeTabs,
  consolePort,
  openBrowser,
  openTab,
  settled,
  sharedTab,
  signInByApi,
  type Tab,
  visit,
} from '../support/console/browser.ts'
import { startGateway, type TestGateway } from '../support/devices/gateway.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { until } from '../support/program.ts'

let harness: Harness
let org: TestOrg
let browser: Browser
let gateway: TestGateway
beforeAll(async () => {
  harness = await startHarness(await consolePort())
  org = await harness.newOrg('Nordlys AS')
  browser = await openBrowser()
  const { body: plantRoom } = await org.call('POST', '/rooms', { body: { name: 'Plant room' } })
  gateway = await startGateway(harness, org, { roomId: plantRoom.id, serial: 'GW-1' })
})
afterAll(async () => {
  await closeTabs(browser)
  await harness.close()
})

const shared = sharedTab(async () => openTab(browser, harness.url, await signInByApi(harness.url, org.key)))
let tab: Tab
let page: Page
beforeEach(async () => {
  tab = await shared()
  page = tab.page
})

const button = (name: string | RegExp, within: Page | Locator = page) =>
  within.getByRole('button', { name, exact: true })
const dialog = () => page.getByRole('dialog')
const outcome = () => dialog().getByRole('status', { name: 'Result of the test' })

/** Looks at what is open on a phone. */
let looks = 0
async function look({ isFirst = false } = {}): Promise<void> {
  if (!isFullForm && !isFirst) return
  const size = page.viewportSize() ?? phone
  await page.setViewportSize(phone)
  await expectAccessible(page, checksDarkDialog(looks++))
  await page.setViewportSize(size)
}

const answered = new Set<string>()
/** Answers the test of a source that waits at the gateway, and returns what the gateway was asked to try. */
async function answerTest(answer: object): Promise<object> {
  let asked: object | undefined
  await until('a test waits', async () => {
    const waiting = (await gateway.list()).sourceTests.find(({ id }) => !answered.has(id))
    if (!waiting) return false
    asked = waiting
    answered.add(waiting.id)
    const { status, text } = await gateway.call('POST', `${devicePaths.gatewaySourceTests}/${waiting.id}`, answer)
    expect(status, text).toBe(200)
    return true
  })
  return asked ?? {}
}

test('a person connects Neat Pulse read only after a test, and another address asks for the key again', async () => {
  await visit(page, '/settings?tab=sources')
  await settled(page, 'Settings')
  await page.getByText('No sources yet').waitFor()
  await button('Connect Neat Pulse').click()
  expect(await dialog().getByRole('combobox', { name: 'Address' }).inputValue()).toBe('https://api.pulse.neat.no')
  expect(
    await dialog()
      .getByRole('checkbox', { name: /^Write: send reboots/ })
      .isChecked(),
  ).toBe(false)
  expect(await button('Test', dialog()).isDisabled()).toBe(true)
  await dialog().getByLabel('Organisation').fill('aBcD123')
  await dialog().getByRole('textbox', { name: 'API key' }).fill('planted key')
  await button('Test', dialog()).click()
  expect(
    await answerTest({ state: 'REFUSED', reason: 'Neat Pulse answers 401: it does not accept the key.' }),
  ).toMatchObject({
    type: 'neat-pulse',
    url: 'https://api.pulse.neat.no',
    orgId: 'aBcD123',
    key: 'planted key',
  })
  await outcome().getByText('The server refused the sign-in').waitFor()
  await dialog().getByRole('textbox', { name: 'API key' }).fill('another key')
  await outcome().waitFor({ state: 'detached' })
  await button('Test', dialog()).click()
  await answerTest({
    found: {
      content: { regions: 2, rooms: 38, devices: 44 },
      notes: ['The key may not read profiles. Give it the scope for profiles in Neat Pulse.'],
    },
  })
  await outcome().getByText('Found: 2 regions, 38 rooms, 44 devices').waitFor()
  await outcome().getByText('The key may not read profiles.', { exact: false }).waitFor()
  await look({ isFirst: true })
  await button('Connect', dialog()).click()

  // The page of the new source follows what its gateway reports.
  await page.getByText('Waiting for the gateway').waitFor()
  await page.getByText('Read only: nothing is changed there').waitFor()
  const [source] = (await org.call('GET', '/sources')).body.sources
  expect(source).toMatchObject({ orgId: 'aBcD123', write: false, secrets: ['key'] })
  await gateway.reportSource(source.id, 'CONNECTED', { content: { regions: 2, rooms: 38, devices: 44 } })
  await page.getByText('Connected', { exact: true }).waitFor()
  await page.getByText('2 regions, 38 rooms, 44 devices').waitFor()

  // Another address needs the key again.
  await button('Edit').click()
  await dialog().getByRole('combobox', { name: 'Address' }).fill('https://pulse.neat.no/api')
  await dialog().getByText('The address has changed, so the stored key will be deleted.', { exact: false }).waitFor()
  expect(await button('Save', dialog()).isDisabled()).toBe(true)
  await look()
  await button('Cancel', dialog()).click()
  await dialog().waitFor({ state: 'detached' })

  // The list has the state and the numbers, and a certificate that has changed is confirmed in the form. In the short form
  // gateways.browser.test.ts confirms one.
  if (isFullForm) await confirmCertificate(source.id)
  await page.getByRole('link', { name: 'All sources' }).click()
  const row = page.getByRole('table', { name: 'Sources' }).getByRole('row').filter({ hasText: 'Neat Pulse, read only' })
  await row.getByText(isFullForm ? 'Waiting for the gateway' : 'Connected').waitFor()
  await look()
  await row.getByRole('link', { name: 'Neat Pulse' }).click()
  await button('Remove').click()
  await button('Remove source', dialog()).click()
  await page.getByText('No sources yet').waitFor()
  // The page of the source can have read it once more before it was left.
  await page.evaluate('0')
  for (const line of tab.trouble.splice(0)) expect(line).toContain('status of 404')
})

/** The server of a source has another certificate, which a person confirms on the page of the source. */
async function confirmCertificate(id: string): Promise<void> {
  await gateway.reportSource(id, 'CHANGED', { reason: 'It has another certificate. No key was sent.' })
  await button('Check the certificate').click()
  const certificate = {
    fingerprint: 'AB'.repeat(32).match(/../g)?.join(':') ?? '',
    validUntil: '2031-01-01T00:00:00Z',
    isTrusted: false,
  }
  await answerTest({ state: 'CHANGED', reason: 'It has another certificate.', found: { certificate } })
  await outcome().getByText('The server answers with an unknown certificate').waitFor()
  await outcome().getByText('Something between the gateway and Neat Pulse answers', { exact: false }).waitFor()
  await look()
  await button('Trust this certificate', dialog()).click()
  expect(await answerTest({ found: { certificate } })).toMatchObject({ key: 'another key' })
  await button('Save', dialog()).click()
  await dialog().waitFor({ state: 'detached' })
  expect((await org.call('GET', `/sources/${id}`)).body.fingerprint).toBe(certificate.fingerprint)
}

const sensor = (number: number, more: object = {}) => ({
  key: `sensor-${number}`,
  name: `Sensor ${number}`,
  manufacturer: 'Aqara',
  model: 'AM107',
  sensors: ['co2', 'temp'],
  values: { co2: 600 + number, temp: 21.5 },
  measuredAt: new Date().toISOString(),
  topic: `zigbee2mqtt/sensor-${number}`,
  format: 'home-assistant',
  lastMessage: `{"co2":${600 + number},"temperature":21.5}`,
  ...more,
})

test('a person puts three sensors into a room, excludes one and takes it back, and sees what is missing or not understood', async () => {
  await org.call('POST', '/rooms', { body: { name: 'Great hall' } })
  const { body: source } = await org.call('POST', '/sources', {
    body: { type: 'mqtt', gatewayId: gateway.id, url: 'mqtt://broker.example', name: 'Sensors' },
  })
  await gateway.reportSource(source.id, 'CONNECTED', { content: { devices: 12 } })
  const notUnderstood = ['The template {{ value_json.x | regex_replace }} is not understood.']
  // Their rows take CPU with each event, so the short form has only those that are used.
  const numbers = isFullForm ? [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] : [1, 2, 3, 4]
  await gateway.found(source.id, [
    ...numbers.map((number) => sensor(number)),
    sensor(11, { notUnderstood }),
    sensor(12, { isMissing: true }),
  ])
  await visit(page, `/settings?tab=sources&source=${source.id}`)
  await page.getByText(`${numbers.length + 1} new sensors`).waitFor()
  const table = page.getByRole('table', { name: 'Devices of the source' })
  await table.getByText('CO₂ 601 ppm, Temperature 21.5 °C').waitFor()
  await look({ isFirst: true })

  // Three at the same time.
  for (const number of [1, 2, 3])
    await page.getByRole('checkbox', { name: `Select Sensor ${number}`, exact: true }).check()
  await page.getByText('3 selected').waitFor()
  await button('Put into a room', page.getByRole('region', { name: 'Selection' })).click()
  await dialog().getByRole('combobox', { name: 'Room' }).fill('great')
  await page.getByRole('option', { name: 'Great hall' }).waitFor()
  await page.keyboard.press('Enter')
  await look()
  await button('Put into the room', dialog()).click()
  await page.getByText('3 devices put into rooms').waitFor()
  await expect.poll(() => table.getByRole('link', { name: 'Great hall' }).count()).toBe(3)
  const devices = async () => (await org.call('GET', `/sources/${source.id}/devices`)).body.devices
  expect((await devices()).filter(({ state }: { state: string }) => state === 'ADOPTED')).toHaveLength(3)

  // The gateway enrols one, which then has a page.
  const [first] = await devices()
  const enrolled = await gateway.enrol(first.deviceId, { serial: 'SENSOR-1', model: 'AM107', manufacturer: 'Aqara' })
  expect(enrolled.status, enrolled.text).toBe(200)
  await gateway.report(first.deviceId, 'CONNECTED')
  await table.getByRole('link', { name: 'Sensor 1', exact: true }).waitFor()
  await table.getByText('Connected', { exact: true }).waitFor()

  // One is excluded and taken back, and one goes into a room from its row.
  await button('Actions for Sensor 4').click()
  await page.getByRole('menuitem', { name: 'Exclude' }).press('Enter')
  await button('Take back Sensor 4').click()
  await button('Put into a room: Sensor 4').waitFor()
  // The dialog is the one of three sensors, with a field for the name.
  if (isFullForm) {
    await button('Put into a room: Sensor 4').click()
    await dialog().getByRole('combobox', { name: 'Room' }).fill('great')
    await page.keyboard.press('Enter')
    await dialog().getByLabel('Name').fill('Window')
    await button('Put into the room', dialog()).click()
    await expect.poll(() => table.getByRole('link', { name: 'Great hall' }).count()).toBe(4)
  }

  // The filter finds what is missing and what has a problem, and the latest message can be read.
  await page.getByRole('combobox', { name: 'State' }).click()
  await page.getByRole('option', { name: 'Missing at the source' }).click()
  await table.getByText('Sensor 12').waitFor()
  await page.getByText(`1 of ${numbers.length + 2} sensors`).waitFor()
  await page.getByRole('combobox', { name: 'State' }).click()
  await page.getByRole('option', { name: 'With a problem' }).click()
  await table.getByText('regex_replace', { exact: false }).waitFor()
  await button('Actions for Sensor 11').click()
  await page.getByRole('menuitem', { name: 'Latest message' }).press('Enter')
  await dialog().getByText('"co2": 611').waitFor()
  await dialog().getByText('regex_replace', { exact: false }).waitFor()
  await look()
  await page.keyboard.press('Escape')

  // A removed device stays in the list as excluded.
  await button('Clear filters').click()
  await button('Actions for Sensor 2').click()
  // A notice can cover the menu.
  await page.getByRole('menuitem', { name: 'Remove' }).press('Enter')
  await button('Remove device', dialog()).click()
  await table.getByText('Excluded', { exact: true }).waitFor()
  expect((await devices()).find(({ key }: { key: string }) => key === 'sensor-2')).toMatchObject({ state: 'EXCLUDED' })
  // The open page of a source that is deleted would ask for its devices once more, and the browser would log the 404.
  await visit(page, '/')
  await settled(page, 'Overview')
  await org.call('DELETE', `/sources/${source.id}?unenrol=true`)
})

test('a person looks at the plan of Neat Pulse, applies it, puts the devices into the linked rooms, and sees the incident when it is away', async () => {
  const { body: source } = await org.call('POST', '/sources', {
    body: { type: 'neat-pulse', gatewayId: gateway.id, orgId: 'aBcD123', key: 'planted key', name: 'Pulse' },
  })
  await gateway.reportSource(source.id, 'CONNECTED', { content: { regions: 1, rooms: 2, devices: 2 } })
  const structure = {
    regions: [{ id: '1', name: 'Nordics' }],
    locations: [{ id: '4', name: 'Oslo', regionId: '1' }],
    rooms: [
      { id: '12', name: 'Fjord', locationId: '4', profileId: '9', capacity: 8 },
      { id: '13', name: 'Skog', locationId: '4' },
      { id: '14', name: 'x'.repeat(101), locationId: '4' },
    ],
    profiles: [{ id: '9', name: 'Quiet', config: { nightMode: true } }],
  }
  const report = async (reported: object) => {
    const path = `${devicePaths.gatewaySources}/${source.id}/structure`
    const { status, text } = await gateway.call('PUT', path, {
      ...{ revision: 1, readAt: new Date().toISOString(), isLast: true },
      ...reported,
    })
    expect(status, text).toBe(200)
  }
  await report(structure)
  await gateway.found(source.id, [
    { key: 'bar', name: 'Fjord Bar', manufacturer: 'Neat', model: 'NF19B1', serial: 'NB1', theirRoomId: '12' },
    { key: 'pad', name: 'Skog Pad', manufacturer: 'Neat', model: 'NF19A1', serial: 'NP1', theirRoomId: '13' },
  ])
  await visit(page, `/settings?tab=sources&source=${source.id}`)
  await page.getByText('2 new devices').waitFor()
  await page.getByRole('tab', { name: 'Plan' }).click()
  await page.getByText('5 differences.', { exact: false }).waitFor()
  const table = page.getByRole('table', { name: 'Plan of the source' })
  await table.getByText('capacity: 8', { exact: false }).waitFor()
  await page.getByText('Its name is longer than 100 characters.', { exact: false }).waitFor()
  expect((await org.call('GET', '/regions')).body.regions).toEqual([])
  await look({ isFirst: true })
  await button('Apply all').click()
  await page.getByText('5 rows applied').waitFor()
  await page.getByText('Nothing differs. 5 things of Pulse are linked.', { exact: false }).waitFor()
  expect((await org.call('GET', '/regions')).body.regions).toHaveLength(1)

  // Later differences are a plan too, and a person chooses from it.
  await report({
    ...structure,
    rooms: [
      { id: '12', name: 'Fjord 2', locationId: '4', profileId: '9', capacity: 8 },
      { id: '13', name: 'Skog', locationId: '4', capacity: 4 },
    ],
  })
  await button('Look again').click()
  await table.getByText('name: Fjord → Fjord 2').waitFor()
  await page.getByRole('checkbox', { name: /Fjord 2$/ }).check()
  await look()
  await button('Apply 1 selected row').click()
  await page.getByText('1 row applied').waitFor()
  await table.getByText('capacity: 4').waitFor()
  const { rooms } = (await org.call('GET', '/rooms')).body
  expect(rooms.find(({ name }: { name: string }) => name === 'Skog').capacity).toBeUndefined()

  // The devices go into the linked rooms.
  await page.getByRole('tab', { name: 'Devices' }).click()
  await button('Put 2 into their rooms').click()
  const devices = page.getByRole('table', { name: 'Devices of the source' })
  await devices.getByRole('link', { name: /^Fjord 2 \(.+\)$/ }).waitFor()
  await devices.getByRole('link', { name: /^Skog \(.+\)$/ }).waitFor()
  await look()

  // A source that is away is an incident, whose page leads to the source.
  await gateway.reportSource(source.id, 'REFUSED', { reason: 'It refused the key.' })
  await page.getByText('Sign-in refused', { exact: true }).waitFor()
  harness.clock.advance(11 * minuteMs)
  const incidents = async () => (await org.call('GET', '/incidents')).body.incidents
  await until('the incident is open', async () => (await incidents()).length > 0)
  const [{ id, rule }] = await incidents()
  expect(rule).toBe('source.failing')
  await visit(page, `/incidents/${id}`)
  await page.getByRole('heading', { name: /cannot read Pulse: It refused the key/ }).waitFor()
  await look()
  await page.getByRole('link', { name: 'Pulse', exact: true }).click()
  await page.getByText('It refused the key.').waitFor()

  // So does the page of a device, until the source no longer lists the device.
  const path = `/sources/${source.id}/devices?state=ADOPTED`
  const [adopted] = (await org.call('GET', path)).body.devices
  const enrolled = await gateway.enrol(adopted.deviceId, { serial: 'NB-AWAY', model: 'NF19B1', manufacturer: 'Neat' })
  await visit(page, `/devices/${enrolled.body.endpointId}`)
  const connection = page.getByRole('region', { name: 'Connection' })
  await connection.getByText(/^The source is away since .+: Sign-in refused$/).waitFor()
  await gateway.reportSource(source.id, 'CONNECTED')
  await gateway.found(source.id, [{ key: adopted.key, model: 'NF19B1', isMissing: true }])
  await connection.getByText('Its source no longer lists this device.').waitFor()
  await expect.poll(() => connection.getByText('The source is away', { exact: false }).count()).toBe(0)
})

// In `npm test` `mapping.test` has what the preview shows, which is the same code.
test.runIf(isFullForm)(
  'a person writes the mapping of a LoRaWAN sensor, and sees what it reads from the latest message',
  async () => {
    const { body: source } = await org.call('POST', '/sources', {
      body: {
        type: 'mqtt',
        gatewayId: gateway.id,
        url: 'mqtts://lora.example',
        name: 'LoRaWAN',
        topics: ['v3/+/devices/+/up'],
      },
    })
    await gateway.reportSource(source.id, 'CONNECTED')
    const uplink = {
      end_device_ids: { device_id: 'hall-1' },
      uplink_message: { decoded_payload: { co2: 812, temp_f: 70, people: 'many' } },
    }
    const lora = { format: 'things-stack', model: 'EM500', topic: 'v3/app@ttn/devices/hall-1/up' }
    const found = await gateway.found(source.id, [
      { key: 'hall-1', name: 'Hall 1', ...lora, lastMessage: JSON.stringify(uplink) },
      { key: 'hall-2', name: 'Hall 2', ...lora },
    ])
    expect(found.status, found.text).toBe(200)
    await visit(page, `/settings?tab=sources&source=${source.id}&view=mappings`)
    await button('EM500 (2 sensors)').click()
    await dialog().getByText('"co2": 812', { exact: false }).waitFor()
    await dialog().getByRole('textbox', { name: 'CO₂' }).fill('value_json.co2')
    const result = (name: string) => dialog().getByRole('status', { name: `Result of ${name}` })
    await result('CO₂').getByText('812 ppm').waitFor()
    await dialog().getByRole('textbox', { name: 'Temperature' }).fill('value_json.temp_f')
    await dialog().getByRole('combobox', { name: 'Unit of Temperature' }).click()
    await page.getByRole('option', { name: '°F' }).click()
    await result('Temperature').getByText('21.1 °C').waitFor()
    await dialog().getByRole('textbox', { name: 'Humidity' }).fill('value_json.humidity')
    await result('Humidity').getByText('Not in the message').waitFor()
    await dialog().getByRole('textbox', { name: 'Presence' }).fill('value_json.x | regex_replace')
    await result('Presence')
      .getByText(/regex_replace/)
      .waitFor()
    await look({ isFirst: true })
    await dialog().getByRole('textbox', { name: 'Humidity' }).fill('')
    await dialog().getByRole('textbox', { name: 'Presence' }).fill('')
    await button('Save', dialog()).click()
    await dialog().waitFor({ state: 'detached' })
    await page.getByRole('table', { name: 'Mappings' }).getByText('CO₂, Temperature').waitFor()
    expect((await org.call('GET', `/sources/${source.id}`)).body.mappings).toEqual([
      {
        ...{ format: 'things-stack', model: 'EM500', match: 'EM500' },
        values: [
          { sensor: 'co2', template: 'value_json.co2' },
          { sensor: 'temp', template: 'value_json.temp_f', unit: '°F' },
        ],
      },
    ])
    await button('Delete the mapping of EM500').click()
    await button('Delete mapping', dialog()).click()
    await page.getByText('No mappings yet').waitFor()
  },
)

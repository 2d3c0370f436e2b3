// Tests what technicians do with a gateway in the browser: a real gateway with its real drivers, a fake codec and a fake projector.
import type { Browser, Locator, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { minuteMs } from '../../src/contract/durations.ts'
import { driverTable } from '../../src/gateway/driver-table.ts'
import { FakeCodec } from '../../src/simulator/hardware-fakes/codec/fake-codec.ts'
import { FakeProjector } from '../../src/simulator/hardware-fakes/projector/fake-projector.ts'
import { checksDarkDialog, expectAccessible, phone } from '../support/console/accessibility.ts'
import {
  changeSession,
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
import { sessionStateOf } from '../support/console/person-tab.ts'
import { GatewayWorld } from '../support/gateway/gateway-world.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { newPerson } from '../support/person.ts'
import { until } from '../support/program.ts'

let harness: Harness
let org: TestOrg
let browser: Browser
beforeAll(async () => {
  harness = await startHarness(await consolePort())
  org = await harness.newOrg('Nordlys AS')
  browser = await openBrowser()
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

const password = 'planted secret'
const button = (name: string | RegExp, within: Page | Locator = page) =>
  within.getByRole('button', { name, exact: true })
const dialog = () => page.getByRole('dialog')
const outcome = () => dialog().getByRole('status', { name: 'Result of the test' })

let codecs = 0
async function newCodec(): Promise<FakeCodec> {
  const codec = await FakeCodec.start({ username: 'rk', password, serial: `FOC2600R10${++codecs}` })
  onTestFinished(() => codec.stop())
  return codec
}

/** Presses, as a person counts them: a label and its field are one. */
async function startCounting(): Promise<() => Promise<number>> {
  await page.evaluate(
    `window.presses = 0; addEventListener('pointerdown', countPress = () => { window.presses++ }, true)`,
  )
  return () => page.evaluate<number>(`removeEventListener('pointerdown', countPress, true), window.presses`)
}

/** Looks at what is open on a phone. Each change of the window draws the page twice, so the short form looks at the first one of each test. */
let looks = 0
async function look({ isFirst = false } = {}): Promise<void> {
  if (!isFullForm && !isFirst) return
  const size = page.viewportSize() ?? phone
  await page.setViewportSize(phone)
  await expectAccessible(page, checksDarkDialog(looks++))
  await page.setViewportSize(size)
}

/** Adds a projector on the page of its gateway. */
async function addProjector(port: number): Promise<void> {
  const presses = await startCounting()
  await button('Add device').click()
  await dialog()
    .getByRole('radio', { name: /^Projector/ })
    .click()
  await dialog().getByLabel('Address').click()
  await page.keyboard.type('127.0.0.1')
  await page.keyboard.press('Tab')
  await page.keyboard.type(String(port))
  await page.keyboard.press('Tab')
  await page.keyboard.type(password)
  await button('Test', dialog()).click()
  await outcome()
    .getByText(/^Found: /)
    .waitFor()
  await dialog().getByRole('combobox', { name: 'Room' }).click()
  await page.keyboard.type('great')
  await page.keyboard.press('Enter')
  await button('Save', dialog()).click()
  expect(await presses()).toBeLessThanOrEqual(8)
  await dialog().getByText('Connected', { exact: true }).waitFor()
  await button('Done', dialog()).click()
}

test('a technician starts a gateway, adds a codec and a projector in 8 clicks each, and restarts the codec when its room is empty', async () => {
  // The commands have the code of the chosen room. A new organisation has no room: it is created here, and then chosen.
  await visit(page, '/settings?tab=gateways')
  await settled(page, 'Settings')
  await page.getByText('No gateways yet').waitFor()
  await button('New room').click()
  await dialog().getByLabel('Name').fill('Great hall')
  await button('Create room', dialog()).click()
  const chosen = page.getByRole('combobox', { name: 'Room of the gateway' })
  await expect.poll(() => chosen.inputValue()).toBe('Great hall')
  const hall = (await org.call('GET', '/rooms')).body.rooms[0]
  await button('New room').waitFor({ state: 'detached' })
  await page.getByLabel('Networks of the devices').fill('$(reboot), 10.20.0.0/16')
  const code = (await org.call('GET', `/rooms/${hall.id}/enrolment`)).body.dec
  await page.getByText(`--code ${code}`).waitFor()
  await page.getByText('“$(reboot)” is not a network.').waitFor()
  for (const way of ['Container', 'Package', 'Checkout']) {
    await page.getByRole('tab', { name: way }).click()
    const command = await page.getByRole('tabpanel', { name: way }).locator('pre').innerText()
    expect(command).toContain(`gateway --url ${harness.url} --code ${code}`)
    expect(command).toMatch(/--reach 10\.20\.0\.0\/16$/)
    expect(command).not.toContain('reboot')
    await button(`Copy the command: ${way}`).waitFor()
  }
  await page.getByRole('tab', { name: 'On the server' }).click()
  await page.getByText(`roomkeeper serve --gateway ${org.id}/${hall.id} --gateway-reach 10.20.0.0/16`).waitFor()
  await look({ isFirst: true })

  // The gateway appears in the table without a reload.
  const world = await GatewayWorld.start(harness, org, { drivers: driverTable })
  const row = page.getByRole('table', { name: 'Gateways' }).getByRole('row').filter({ hasText: 'Fjord' })
  await row.getByText('Online').waitFor()
  await row.getByText('127.0.0.0/8').waitFor()
  await row.getByText('0.0.0-test').waitFor()

  // A codec, from the page of its room: the password is wrong at first.
  const codec = await newCodec()
  await visit(page, `/rooms/${hall.id}`)
  await settled(page, 'Great hall')
  const presses = await startCounting()
  await button('Add device').click()
  await dialog().getByRole('radio', { name: 'Cisco RoomOS codec' }).click()
  await dialog().getByLabel('Address').click()
  await page.keyboard.type('127.0.0.1')
  await page.keyboard.press('Tab')
  await page.keyboard.type(String(codec.port))
  await page.keyboard.press('Tab')
  await page.keyboard.type('rk')
  await page.keyboard.press('Tab')
  await page.keyboard.type('wrong')
  await look()
  await button('Test', dialog()).click()
  await outcome().getByText('The device answers with an unknown certificate').waitFor()
  await outcome().getByText(codec.fingerprint).waitFor()
  expect(codec.signIns).toEqual({ right: 0, wrong: 0 })
  await look()
  await button('Trust this certificate', dialog()).click()
  await outcome().getByText('The device refused user or password').waitFor()
  await outcome()
    .getByText(/Use a local user of the codec/)
    .waitFor()
  expect(codec.signIns).toEqual({ right: 0, wrong: 1 })
  await dialog().getByRole('textbox', { name: 'Password' }).fill(password)
  await button('Test', dialog()).click()
  await outcome()
    .getByText(/^Found: Cisco .*serial number FOC/)
    .waitFor()
  await outcome().getByText('What is off').waitFor()
  await look()
  await button('Save', dialog()).click()
  expect(await presses()).toBeLessThanOrEqual(8)
  await dialog().getByText('Connected', { exact: true }).waitFor()
  await button('Done', dialog()).click()

  // A projector, from the page of the gateway: the same dialog for another driver. In the short form the API adds it.
  const projector = new FakeProjector({ password })
  const port = await projector.listen()
  onTestFinished(() => projector.close())
  const address = { driver: 'pjlink', host: '127.0.0.1', port, secret: password, roomId: hall.id }
  if (!isFullForm) expect((await world.call('POST', '', address)).status).toBe(200)
  await visit(page, `/settings?tab=gateways&gateway=${world.id}`)
  if (isFullForm) await addProjector(port)
  const items = page.getByRole('table', { name: 'Devices of the gateway' })
  await expect.poll(() => items.getByText('Connected', { exact: true }).count()).toBe(2)
  await items.getByText('Hall projector').waitFor()
  await look()

  // The device page says what it comes through, and offers nothing that the driver cannot do.
  const [codecItem, projectorItem] = (await world.call('GET', '')).body.devices
  await visit(page, `/devices/${projectorItem.endpointId}`)
  const connection = page.getByRole('region', { name: 'Connection' })
  await connection.getByText('Projector or display with PJLink').waitFor()
  await connection.getByText(/^Restart, messages on the screen, logs and settings: this driver cannot do it/).waitFor()
  await button(/^Switch o/)
    .first()
    .waitFor()
  expect(await page.getByRole('button', { name: /Restart|Send message|Collect logs/ }).count()).toBe(0)
  await look()

  // A restart waits for the end of the call, and then for quiet minutes: without a call the room would be idle immediately.
  const isInCall = async (status: string) => (await world.endpoint(codecItem.endpointId)).inCallStatus === status
  codec.set('Status', 'SystemUnit State NumberOfActiveCalls', 1)
  await until('the call is known', () => isInCall('OTHER'))
  await visit(page, `/devices/${codecItem.endpointId}`)
  await connection.getByText('Cisco RoomOS codec').waitFor()
  await page.getByText('In a call', { exact: true }).waitFor()
  await button('Restart').click()
  expect(await dialog().getByRole('radio', { name: 'When the room is empty' }).isChecked()).toBe(true)
  await button('Restart later', dialog()).click()
  await dialog().waitFor({ state: 'detached' })
  const waiting = page.getByText(/waits|waiting/i).first()
  await waiting.waitFor()
  codec.set('Status', 'SystemUnit State NumberOfActiveCalls', 0)
  await until('the end of the call is known', () => isInCall('NONE'))
  expect(codec.restarts).toBe(0)
  harness.clock.advance(15 * minuteMs)
  await until('the codec has restarted', () => codec.restarts === 1)
  await waiting.waitFor({ state: 'detached' })
})

test('the list says why a device is not connected; its address, certificate and password are corrected there', async () => {
  const world = await GatewayWorld.start(harness, org, { drivers: driverTable })
  const codec = await newCodec()
  const target = { driver: 'roomos', host: '127.0.0.1', port: codec.port, username: 'rk', roomId: world.roomId }
  const fingerprint = codec.fingerprint.replace(/^../, codec.fingerprint.startsWith('00') ? '01' : '00')
  const id = (await world.call('POST', '', { ...target, secret: 'wrong', fingerprint, name: 'Codec' })).body.id
  await world.reaches(id, 'CHANGED')
  await visit(page, `/settings?tab=gateways&gateway=${world.id}`)
  const items = page.getByRole('table', { name: 'Devices of the gateway' })
  await items.getByText('Another certificate or device').waitFor()
  await items.getByText(/No password was sent/).waitFor()

  // The dialog shows both certificates, and the new one is confirmed.
  await button('Check Codec', items).click()
  await outcome().getByText('The device has another certificate').waitFor()
  for (const text of [fingerprint, codec.fingerprint]) await outcome().getByText(text).waitFor()
  await look({ isFirst: true })
  await button('Trust this certificate', dialog()).click()
  await outcome().getByText('The device refused user or password').waitFor()
  await button('Save', dialog()).click()
  await items.getByText('Password refused').waitFor()
  expect((await world.item(id)).fingerprint).toBe(codec.fingerprint)
  expect(codec.signIns.wrong).toBe(2)

  // Another address needs the password again.
  await button('Actions for Codec').click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  await dialog().getByLabel('Address').fill('localhost')
  await dialog()
    .getByText(/the stored password and the trusted certificate will be deleted/)
    .waitFor()
  expect(await button('Save', dialog()).isDisabled()).toBe(true)
  await look()
  await dialog().getByLabel('Address').fill('127.0.0.1')
  expect(await button('Save', dialog()).isDisabled()).toBe(false)
  await dialog().getByRole('textbox', { name: 'Password' }).fill(password)
  await button('Save', dialog()).click()
  await items.getByText('Connected', { exact: true }).waitFor()

  // States filter, as in sources.browser.test.ts in the short form, and what is away can be tried again.
  await world.call('POST', '', { ...target, port: 1, secret: 'x', name: 'Nothing there' })
  await items.getByText('Cannot be reached').waitFor()
  if (isFullForm) {
    await page.getByRole('combobox', { name: 'State' }).click()
    await page.getByRole('option', { name: 'Cannot be reached' }).click()
    await items.getByText('Nothing there').waitFor()
    expect(await items.getByText('Connected', { exact: true }).count()).toBe(0)
  }
  await items.getByText(/refuses connections/).waitFor()
  await button('Try Nothing there again', items).click()
  await page.getByText('The gateway tries it now').waitFor()
  if (isFullForm) await button('Clear filters').click()

  // Deleting asks whether the device stays.
  await button(/^Actions for Codec/).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const { endpointId } = await world.item(id)
  await dialog().getByLabel('Unenrol the device too').uncheck()
  await look()
  await button('Delete device', dialog()).click()
  await dialog().waitFor({ state: 'detached' })
  await until('it has left its gateway', async () => (await world.endpoint(endpointId)).via === undefined)

  // While the gateway is away, the states of its devices are those of before.
  const lastReported = page.getByText('the devices have the states that it reported last')
  expect(await lastReported.count()).toBe(0)
  await world.running.stop()
  await lastReported.waitFor()

  // The dialog that deletes its room says what goes with it.
  await visit(page, `/rooms/${world.roomId}`)
  await settled(page, 'Fjord')
  await button('More actions').click()
  await page.getByRole('menuitem', { name: 'Delete room' }).click()
  await dialog()
    .getByText(/The gateway in this room manages 1 device.* their addresses and passwords are deleted/)
    .waitFor()
  await button('Cancel', dialog()).click()
  await dialog().waitFor({ state: 'detached' })

  // A gateway that has devices asks before it goes.
  await visit(page, `/devices/${world.id}`)
  const reads = new Set<Request>()
  page.on('request', (request) => request.url().includes(world.id) && reads.add(request))
  page.on('requestfinished', (request) => reads.delete(request))
  page.on('requestfailed', (request) => reads.delete(request))
  await button('Unenrol').click()
  await dialog().getByText('This gateway manages 1 device.').waitFor()
  await button('Unenrol', dialog()).click()
  await settled(page, 'Fjord')
  expect((await org.call('GET', `/endpoints/${world.id}`)).status).toBe(404)
  // The page of the gateway can have read it once more before it was left.
  await until('its reads have ended', () => reads.size === 0)
  await page.evaluate('0')
  for (const line of tab.trouble.splice(0)) expect(line).toContain('status of 404')
})

// In the short form src/server/fleet/gateways proves over HTTP who reads and changes them.
test.runIf(isFullForm)(
  'people without write access see devices and no actions; people of another region see neither gateway nor device',
  async () => {
    const world = await GatewayWorld.start(harness, org, { drivers: driverTable })
    await world.call('POST', '', { driver: 'reach', host: '127.0.0.1', port: 1, roomId: world.roomId, name: 'Panel' })
    const operator = await newPerson(harness, org, { role: 'operator', allRegions: true })
    await changeSession(tab, sessionStateOf(harness, operator))
    await visit(page, `/settings?tab=gateways&gateway=${world.id}`)
    await page.getByRole('table', { name: 'Devices of the gateway' }).getByText('Panel').waitFor()
    const names = await page.getByRole('tabpanel').getByRole('button').allInnerTexts()
    expect(names.join()).not.toMatch(/Add device|Try|Edit|Delete|Check/)
    const region = (await org.call('POST', '/regions', { body: { name: 'Elsewhere' } })).body.id
    const admin = await newPerson(harness, org, { role: 'admin', regionIds: [region] })
    await changeSession(tab, sessionStateOf(harness, admin))
    await visit(page, `/settings?tab=gateways&gateway=${world.id}`)
    await page.getByText('No gateways yet').waitFor()
    expect(await page.getByText('Panel').count()).toBe(0)
  },
)

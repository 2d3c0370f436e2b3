// Tests how a person mirrors an account of Neat Pulse in the browser: a real gateway with its real driver, and a second Roomkeeper in the place of Neat Pulse.
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sourceTable } from '../../src/gateway/sources/source-table.ts'
import { expectAccessible, phone } from '../support/console/accessibility.ts'
import {
  closeTabs,
  consolePort,
  openBrowser,
  openTab,
  settled,
  signInByApi,
  visit,
} from '../support/console/browser.ts'
import { type LiveDevice, startDevice } from '../support/devices/agent-device.ts'
import { GatewayWorld } from '../support/gateway/gateway-world.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'

let harness: Harness
let upstream: Harness
let there: TestOrg
let bar: LiveDevice
beforeAll(async () => {
  harness = await startHarness(await consolePort())
  upstream = await startHarness()
  there = await upstream.newOrg()
  const call = async (path: string, body: object) => (await there.call('POST', path, { body })).body.id
  const region = await call('/regions', { name: 'Nordics' })
  const location = await call('/locations', { name: 'Oslo', regionId: region })
  const roomId = await call('/rooms', { name: 'Skog', locationId: location, capacity: 8 })
  bar = await startDevice(upstream, there, { roomId, serial: 'NB12042000123', model: 'NF19B1' })
})
afterAll(async () => {
  await closeTabs(await openBrowser())
  await bar.stop()
  await upstream.close()
  await harness.close()
})

// In the short form sources.browser.test.ts does the same in the browser, with a gateway of the test, and test/gateway/sources/mirror.http.test.ts
// mirrors an account with the real gateway and its driver.
test.runIf(isFullForm)(
  'a person connects an account read only, applies its plan, and sees a mirrored device without actions; nothing is written there',
  async () => {
    const org = await harness.newOrg('Nordlys AS')
    await GatewayWorld.start(harness, org, { sources: sourceTable })
    const { page } = await openTab(await openBrowser(), harness.url, await signInByApi(harness.url, org.key))
    const button = (name: string, within: Page | Locator = page) => within.getByRole('button', { name, exact: true })
    const dialog = page.getByRole('dialog')
    const key = await there.newKey({ name: 'Mirror' })
    const auditBefore = (await there.audit()).length
    await visit(page, '/settings?tab=sources')
    await settled(page, 'Settings')
    await button('Connect Neat Pulse').click()
    await dialog.getByRole('combobox', { name: 'Address' }).fill(upstream.url)
    await dialog.getByLabel('Organisation').fill(there.id)
    await dialog.getByRole('textbox', { name: 'API key' }).fill('wrong')
    await button('Test', dialog).click()
    const outcome = dialog.getByRole('status', { name: 'Result of the test' })
    await outcome.getByText('The server refused the sign-in').waitFor()
    await dialog.getByRole('textbox', { name: 'API key' }).fill(key)
    await button('Test', dialog).click()
    await outcome.getByText(/^Found: 1 region, .*1 room, .*1 device/).waitFor()
    await button('Connect', dialog).click()
    await page.getByText('1 new device', { exact: true }).waitFor()

    await page.getByRole('tab', { name: 'Plan' }).click()
    await page.getByText('3 differences.', { exact: false }).waitFor()
    await button('Apply all').click()
    await page.getByText('3 rows applied').waitFor()
    await page.getByRole('tab', { name: 'Devices' }).click()
    await button('Put 1 into their rooms').click()
    const table = page.getByRole('table', { name: 'Devices of the source' })
    await table.getByText('Connected', { exact: true }).waitFor()
    await table.getByRole('link', { name: 'Skog', exact: true }).waitFor()
    await table.getByRole('link').first().click()

    // The page of the device names the source, and offers nothing that cannot be done.
    const connection = page.getByRole('region', { name: 'Connection' })
    await connection.getByRole('link', { name: 'Neat Pulse' }).waitFor()
    await connection.getByText('Read only: reboots, messages', { exact: false }).waitFor()
    expect(await page.getByRole('button', { name: /Restart|Send message|Collect logs/ }).count()).toBe(0)
    expect(await page.getByRole('tab', { name: 'Settings' }).count()).toBe(0)
    const size = page.viewportSize() ?? phone
    await page.setViewportSize(phone)
    await expectAccessible(page)
    await page.setViewportSize(size)
    expect((await there.audit()).length).toBe(auditBefore)

    // The list of devices can be narrowed to those of the source: the gateway is left out.
    await visit(page, '/devices?source=neat-pulse')
    const rows = page.getByRole('table', { name: 'Devices' }).getByRole('row')
    await expect.poll(() => rows.count()).toBe(2)
    await page.getByLabel('Source', { exact: true }).first().waitFor()
    await visit(page, '/devices?source=none')
    await expect.poll(async () => (await rows.allTextContents()).join()).toMatch(/gateway/i)
    expect(await rows.count()).toBe(2)
  },
)

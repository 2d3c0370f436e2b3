// Takes the pictures of docs/tutorial.md while its commands run: `npm run screenshots`. Look at them before you commit them.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { startService } from '../src/server/app.ts'
import type { ServeOptions } from '../src/server/config/server-options.ts'
import { makeLog } from '../src/server/core/log.ts'
import { need, programPath } from '../test/support/debian.ts'
import { Tutorial } from '../test/support/tutorial.ts'

const drawingTimeMs = 2_500
const outputFolder = join(import.meta.dirname, '../docs/screenshots')

const openPages: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  'tutorial-empty': (page) => page.goto('/'),
  'tutorial-room': (page) => page.goto('/rooms/1'),
  'tutorial-incident': async (page) => {
    await page.goto('/incidents')
    await page
      .getByRole('table', { name: 'Incidents' })
      .getByRole('link', { name: /is offline/ })
      .click()
  },
}

need('chromium-headless-shell', 'curl')
const dataDir = mkdtempSync(join(tmpdir(), 'roomkeeper-tutorial-data-'))
const loopback = '127.0.0.1'
const options: ServeOptions = {
  ...{
    host: loopback,
    port: 0,
    mqttHost: loopback,
    mqttPort: 0,
    mqttTlsPort: 'off',
    healthPort: 'off',
    healthHost: loopback,
  },
  ...{ rateLimit: 0, authFailureLimit: 0, logLevel: 'silent', logRequests: 'writes', dataDir },
  outboundAllow: [loopback],
  settleMinutes: 0,
}
const service = await startService(options, makeLog('silent'))
const { org = '', key = '' } = service.first ?? {}
const tutorial = await Tutorial.start({ url: service.url, org, key })
const browser = await chromium.launch({
  executablePath: programPath('chromium-headless-shell') ?? 'chromium-headless-shell',
  args: ['--no-sandbox', '--disable-gpu'],
})
try {
  const page = await browser.newPage({
    baseURL: service.url,
    viewport: { width: 1366, height: 600 },
    timezoneId: 'Europe/Oslo',
  })
  await page.goto('/')
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('status', { name: /^Live/ }).waitFor()
  for (const block of tutorial.blocks) {
    for (const name of block.pictures) {
      await openPages[name]?.(page)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.waitForTimeout(drawingTimeMs)
      await page.mouse.move(0, 0)
      await page.screenshot({ path: join(outputFolder, `${name}.png`) })
      process.stdout.write(`${name}.png\n`)
    }
    if (block.language === 'sh' || block.language === 'js') await tutorial.run(block)
  }
} finally {
  await browser.close()
  await tutorial.stop()
  await service.close()
  rmSync(dataDir, { recursive: true, force: true })
}

// Takes the screenshots of the README and of docs from the demo: `npm run screenshots`, or one of them: `npx node tools/screenshots.ts gateway`. Look
// at them before you commit them.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { chromium, type Page } from 'playwright-core'
import { dayMs } from '../src/contract/durations.ts'
import { need, programPath } from '../test/support/debian.ts'

const drawingTimeMs = 2_500
const faultAfterMs = 4 * 60_000
const root = join(import.meta.dirname, '..')
const outputFolder = join(root, 'docs/screenshots')
const dataDir = mkdtempSync(join(tmpdir(), 'roomkeeper-screenshots-'))

interface Screenshot {
  readonly name: string
  readonly scheme: 'light' | 'dark'
  /** For pages whose lower half belongs to the picture; otherwise 900. */
  readonly heightPx?: number
  /** Opens the page to be shown. */
  readonly open: (page: Page) => Promise<unknown>
}

const findRoom = async (page: Page, room: string) => {
  await page.goto(`/rooms?q=${room}`)
  await page.getByRole('table', { name: 'Rooms' }).getByRole('link').first().click()
  await page.getByRole('heading', { name: 'Devices' }).waitFor()
}
const openRoom = async (page: Page) => {
  await findRoom(page, 'juniper')
  await page.getByText('Week', { exact: true }).click()
}
/** Opens a device in a room with a profile, so that some settings are locked. */
const openDevice = async (page: Page) => {
  await findRoom(page, 'comet')
  await page.getByRole('region', { name: 'Devices' }).getByRole('link').first().click()
  await page.getByRole('tab', { name: 'Settings' }).click()
}

const openAudit = async (page: Page) => {
  await page.goto('/audit?type=PROFILE_CREATED')
  await page.getByRole('row').filter({ hasText: 'Profile created' }).getByRole('button').first().click()
}

const openIncidents = async (page: Page) => {
  await page.goto('/incidents')
  await page.getByRole('table', { name: 'Incidents' }).locator('[aria-rowindex="2"]').waitFor()
}

const openGateway = async (page: Page) => {
  await page.goto('/settings?tab=gateways')
  await page.getByRole('table', { name: 'Gateways' }).getByRole('link').first().click()
  await page.getByRole('table', { name: 'Devices of the gateway' }).waitFor()
}

/** The week that the demo has lived through can begin in the month before. */
const openInsights = async (page: Page) => {
  const day = (daysAgo: number) => new Date(Date.now() - daysAgo * dayMs).toISOString().slice(0, 10)
  await page.goto(`/insights?from=${day(7)}&to=${day(1)}`)
}

const screenshots: readonly Screenshot[] = [
  { name: 'overview', scheme: 'light', open: (page) => page.goto('/') },
  { name: 'overview-dark', scheme: 'dark', open: (page) => page.goto('/') },
  { name: 'incidents', scheme: 'light', open: openIncidents },
  { name: 'rooms', scheme: 'light', open: (page) => page.goto('/rooms') },
  { name: 'room-dark', scheme: 'dark', heightPx: 1500, open: openRoom },
  { name: 'device-config', scheme: 'light', open: openDevice },
  { name: 'insights', scheme: 'light', open: openInsights },
  { name: 'sites', scheme: 'light', open: (page) => page.goto('/sites') },
  { name: 'audit', scheme: 'dark', open: openAudit },
  { name: 'gateway', scheme: 'light', open: openGateway },
]
const [, , ...wanted] = process.argv
const chosen = screenshots.filter(({ name }) => wanted.length === 0 || wanted.includes(name))

const server = spawn(
  process.execPath,
  [join(root, 'bin/roomkeeper.js'), 'demo', '--port', '0', '--mqtt-port', '0', '--data-dir', dataDir],
  { stdio: ['ignore', 'pipe', 'inherit'] },
)
try {
  const output = await untilPrinted(/History sent/)
  const url = /ready at (\S+)/.exec(output)?.[1] ?? ''
  const key = /Key +(\S+)/.exec(output)?.[1] ?? ''
  // The lamp of a projector has reached its end by then.
  await sleep(faultAfterMs)
  mkdirSync(outputFolder, { recursive: true })
  need('chromium-headless-shell')
  const browser = await chromium.launch({
    executablePath: programPath('chromium-headless-shell') ?? 'chromium-headless-shell',
    args: ['--no-sandbox', '--disable-gpu'],
  })
  for (const scheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ baseURL: url, colorScheme: scheme, timezoneId: 'Europe/Oslo' })
    const page = await context.newPage()
    await page.goto('/')
    await page.getByLabel('API key').fill(key)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('status', { name: /^Live/ }).waitFor()
    for (const { name, heightPx = 900, open } of chosen.filter((screenshot) => screenshot.scheme === scheme)) {
      await page.setViewportSize({ width: 1366, height: heightPx })
      await open(page)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
      // The event stream never ends, so the network never becomes idle; charts are drawn after their data has arrived.
      await page.waitForTimeout(drawingTimeMs)
      await page.mouse.move(0, 0)
      await page.screenshot({ path: join(outputFolder, `${name}.png`) })
      process.stdout.write(`${name}.png\n`)
    }
    await context.close()
  }
  await browser.close()
} finally {
  server.kill('SIGTERM')
  await new Promise((resolve) => server.once('exit', resolve))
  rmSync(dataDir, { recursive: true, force: true })
}

/** Resolves with everything that the server has printed when it matches the pattern. */
function untilPrinted(pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    server.stdout.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
      if (pattern.test(text)) resolve(text)
    })
    server.once('exit', () => reject(new Error(`The demo ended:\n${text}`)))
  })
}

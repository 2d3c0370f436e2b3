// Takes the pictures of the README from the demo fleet: `npm run screenshots`. Look at them before you commit them.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'

const root = join(import.meta.dirname, '..')
const pictures = join(root, 'docs/screenshots')
const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-pictures-'))

interface Picture {
  readonly name: string
  readonly scheme: 'light' | 'dark'
  /** Opens the page of the picture. */
  readonly go: (page: Page) => Promise<unknown>
}

const open = async (page: Page, room: string) => {
  await page.goto(`/rooms?q=${room}`)
  await page.getByRole('table', { name: 'Rooms' }).getByRole('link').first().click()
  await page.getByRole('heading', { name: 'Devices' }).waitFor()
}
const openRoom = async (page: Page) => {
  await open(page, 'atlas')
  await page.getByText('Week', { exact: true }).click()
}
/** The device is in a room with a profile, so that some settings are locked. */
const openDevice = async (page: Page) => {
  await open(page, 'comet')
  await page.getByRole('region', { name: 'Devices' }).getByRole('link').first().click()
  await page.getByRole('tab', { name: 'Settings' }).click()
}

const openAudit = async (page: Page) => {
  await page.goto('/audit')
  await page.getByRole('row').filter({ hasText: 'Profile created' }).getByRole('button').first().click()
}

const list: readonly Picture[] = [
  { name: 'overview', scheme: 'light', go: (page) => page.goto('/') },
  { name: 'overview-dark', scheme: 'dark', go: (page) => page.goto('/') },
  { name: 'rooms', scheme: 'light', go: (page) => page.goto('/rooms') },
  { name: 'room-dark', scheme: 'dark', go: openRoom },
  { name: 'device-config', scheme: 'light', go: openDevice },
  { name: 'sites', scheme: 'light', go: (page) => page.goto('/sites') },
  { name: 'audit', scheme: 'dark', go: openAudit },
]

const server = spawn(
  process.execPath,
  [join(root, 'bin/roomkeeper.js'), 'demo', '--port', '0', '--mqtt-port', '0', '--data-dir', folder],
  { stdio: ['ignore', 'pipe', 'inherit'] },
)
try {
  const said = await untilSaid(/Their past is there/)
  const url = /ready at (\S+)/.exec(said)?.[1] ?? ''
  const key = /Key +(\S+)/.exec(said)?.[1] ?? ''
  mkdirSync(pictures, { recursive: true })
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  })
  for (const scheme of ['light', 'dark'] as const) {
    const viewport = { width: 1366, height: 900 }
    const context = await browser.newContext({ baseURL: url, viewport, colorScheme: scheme, timezoneId: 'Europe/Oslo' })
    const page = await context.newPage()
    await page.goto('/')
    await page.getByLabel('API key').fill(key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('status', { name: /^Live/ }).waitFor()
    for (const { name, go } of list.filter((picture) => picture.scheme === scheme)) {
      await go(page)
      // The event stream never ends, so the network is never idle. Charts are drawn after their data has arrived.
      await page.waitForTimeout(2500)
      await page.mouse.move(0, 0)
      await page.screenshot({ path: join(pictures, `${name}.png`) })
      process.stdout.write(`${name}.png\n`)
    }
    await context.close()
  }
  await browser.close()
} finally {
  server.kill('SIGTERM')
  await new Promise((resolve) => server.once('exit', resolve))
  rmSync(folder, { recursive: true, force: true })
}

/** Waits for the pattern, and returns the whole output until then. */
function untilSaid(pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    server.stdout.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
      if (pattern.test(text)) resolve(text)
    })
    server.once('exit', () => reject(new Error(`the demo ended:\n${text}`)))
  })
}

// Checks a page with axe, in light and in dark, and that it fits into its window.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { isFullForm, runCount } from '../long-form.ts'

export const phone = { width: 390, height: 844 }

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * This code runs in the page. It is a string, because the tests are compiled for Node and not for the browser. Without `preload` axe does
 * not parse all style sheets again, which only the rule about the orientation needs; `selectors: false` skips the CSS selectors of nodes,
 * and the reporter the descriptions of nodes without a violation, which took a quarter of its time.
 */
const runAxe = (
  rules: readonly string[],
  within: string,
  checksContrast: boolean,
) => `axe.run(${JSON.stringify(within)}, {
    runOnly: ${JSON.stringify(rules)},
    rules: { 'color-contrast': { enabled: ${checksContrast} } },
    reporter: 'no-passes',
    selectors: false,
    preload: ${rules.includes('css-orientation-lock')},
  })
  .then(({ violations }) => violations.map(({ id, help, nodes }) =>
    id + ': ' + help + ': ' + nodes.map((node) => node.html.slice(0, 160)).join(' | ')))`

const rules = {
  wcag: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  colours: ['color-contrast'],
  /** All of `wcag` but the contrast, which takes a third of its time. */
  structure: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  orientation: ['css-orientation-lock'],
}

/** Finishes all CSS transitions, because axe must not measure a colour in the middle of one. Other animations go on. */
const endTransitions = `document.getAnimations()
  .filter((animation) => animation instanceof CSSTransition)
  .forEach((transition) => transition.finish())`

/**
 * Returns the violations of WCAG 2.2 AA that axe finds, as sentences; `colours` checks the contrast only, and `orientation` only that no
 * style sheet locks it, which `wcag` leaves out; `structure` leaves out the contrast as well. `within` is a selector.
 * An open dialog is checked alone: the page behind it cannot be reached, and has a check of its own.
 */
export async function axe(page: Page, what: keyof typeof rules = 'wcag', within?: string): Promise<string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axeSource)
  await page.evaluate(endTransitions)
  const hasDialog = (await page.locator('[role="dialog"]').count()) > 0
  const part = within ?? (hasDialog ? '[role="dialog"]' : 'html')
  return page.evaluate(runAxe(rules[what], part, what === 'wcag' || what === 'colours'))
}

/**
 * Returns the violations in light, and whether the page is wider than its window. `checksDark` checks the contrast in dark as well. The
 * palette has all colours of the console (theme.ts), so `npm test` checks the contrast in both or in none: of few pages and dialogs.
 */
export async function findViolations(page: Page, checksDark = true): Promise<string[]> {
  const found: string[] = []
  for (const colorScheme of checksDark ? (['dark', 'light'] as const) : (['light'] as const)) {
    await page.emulateMedia({ colorScheme })
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
    const inLight = checksDark || isFullForm ? 'wcag' : 'structure'
    const violations = await axe(page, colorScheme === 'dark' ? 'colours' : inLight)
    found.push(...violations.map((violation) => `${colorScheme}: ${violation}`))
  }
  return [...found, ...(await findOverflow(page))]
}

/**
 * Checks a page or a dialog in a test that is about something else. Axe takes up to a second of CPU, so `npm test` runs it in the suites
 * about accessibility only (pages and incidents-axe), and here the page must only fit into its window.
 */
export async function expectAccessible(page: Page, checksDark = false): Promise<void> {
  if (isFullForm) expect(await findViolations(page, checksDark)).toEqual([])
  else await expect.poll(() => findOverflow(page)).toEqual([])
}

/** Dialogs share their colours, so `npm test` checks the contrast of every fifth one. */
export const checksDarkDialog = (index: number): boolean => index % runCount({ short: 5, long: 1 }) === 0

/** Returns a sentence if the page is wider than its window. */
export async function findOverflow(page: Page): Promise<string[]> {
  const width = await page.evaluate<number>('document.documentElement.scrollWidth')
  return width > (page.viewportSize()?.width ?? 0) ? [`${width} px wide`] : []
}

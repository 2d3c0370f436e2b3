// Reads the work list of incidents in a browser.
import type { Page } from 'playwright-core'

/** The row of an incident in the work list. */
export const incidentRow = (page: Page, id: string) =>
  page
    .getByRole('table', { name: 'Incidents' })
    .getByRole('row')
    .filter({ has: page.locator(`a[href="/incidents/${id}"]`) })

/** The ids of the incidents in the work list, from its top. */
export const idsIn = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('[role=table] [data-index]')]
    .sort((a, b) => a.dataset.index - b.dataset.index)
    .map((row) => row.querySelector('a[href^="/incidents/"]').getAttribute('href').split('/').at(-1))`)

/** The name of the element that has the focus. */
export const focusedName = (page: Page): Promise<string> =>
  page.evaluate(`(({ ariaLabel, textContent }) => ariaLabel ?? textContent)(document.activeElement)`)

// Fills in the wizard for a job.
import type { Page } from 'playwright-core'
import { dayMs } from '../../../src/contract/durations.ts'
import { settled, visit } from './browser.ts'

/** Fills in the wizard up to its plan. */
export async function planNightMode(page: Page): Promise<void> {
  await visit(page, '/jobs')
  await settled(page, 'Jobs')
  await page.getByRole('link', { name: 'New job' }).click()
  await settled(page, 'New job')
  await page.getByText('Choose what the job does.').waitFor()
  await page.getByRole('radio', { name: 'Change settings' }).check()
  await page.getByRole('radiogroup', { name: 'Night mode' }).getByText('On', { exact: true }).click()
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('combobox', { name: 'Regions' }).click()
  await page.getByRole('option', { name: 'Europe' }).click()
  await page.keyboard.press('Escape')
  await page.getByText('3 devices in 2 rooms match').waitFor()
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('button', { name: 'Remove stage 2' }).click()
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('3 devices in 2 rooms', { exact: true }).waitFor()
}

/** A change window that is three days away. */
export function closedWindow(nowMs: number): object {
  const day = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'][new Date(nowMs + 3 * dayMs).getUTCDay()]
  return { days: [day], from: '10:00', to: '11:00' }
}

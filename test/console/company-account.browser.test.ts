// A browser signs in with a company account: over the provider, which is another site, and back into the console. [contract 11.oidc]
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { axe } from '../support/console/accessibility.ts'
import { closeTabs, openBrowser } from '../support/console/browser.ts'
import { isFullForm } from '../support/long-form.ts'
import { type ProviderOrg, ProviderSite } from '../support/oidc/provider-site.ts'

let site: ProviderSite
let org: ProviderOrg
let browser: Browser
beforeAll(async () => {
  site = await ProviderSite.start('localhost')
  org = await site.newOrg()
  browser = await openBrowser()
})
afterAll(async () => {
  await closeTabs(browser)
  await site.close()
})

async function signInAs(subject: string) {
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  const page = await context.newPage()
  site.provider.signInAs(undefined)
  await page.goto(`${site.url}/auth/${org.id}/oidc?returnTo=/rooms`)
  expect(new URL(page.url()).origin).toBe(site.provider.issuer)
  await page.getByLabel('Subject').fill(subject)
  await page.getByRole('button', { name: 'Sign in' }).click()
  return { page, context }
}

test('the browser has the session although it comes from another site, with a strict cookie that no script reads', async () => {
  site.provider.addAccount('ada')
  await site.invite(org, 'ada@example.org', { role: 'admin' })
  const { page, context } = await signInAs('ada')
  await page.waitForURL(`${site.url}/rooms`)
  const asked = await page.evaluate(async () => {
    const answer = await fetch('/console/session')
    return { status: answer.status, body: await answer.json() }
  })
  expect(asked).toMatchObject({ status: 200, body: { user: { email: 'ada@example.org' } } })
  expect(await page.evaluate('document.cookie')).toBe('')
  const cookies = await context.cookies(site.url)
  expect(cookies).toMatchObject([{ httpOnly: true, sameSite: 'Strict', path: '/' }])
})

test('a person who may not come in reads on a page what to do, and gets back to the sign-in page', async () => {
  site.provider.addAccount('stranger')
  const { page } = await signInAs('stranger')
  await page.getByRole('heading', { name: 'You cannot sign in here yet' }).waitFor()
  expect(await page.textContent('main')).toContain('Ask an owner of the organisation to invite you.')
  if (isFullForm) expect(await axe(page)).toEqual([])
  const link = page.getByRole('link', { name: 'Go to the sign-in page' })
  expect(await link.evaluate((element) => element.href)).toBe(`${site.url}/sign-in`)
  if (!isFullForm) return
  await link.click()
  await page.waitForURL(`${site.url}/sign-in`)
})

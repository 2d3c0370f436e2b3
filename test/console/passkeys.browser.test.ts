// A real browser adds a passkey with a virtual authenticator, signs out, and signs in with it. [contract 11.local]
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { closeTabs, expectTrouble, newTab, openBrowser } from '../support/console/browser.ts'
import { entriesOf, invite } from '../support/console/user-session.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'

let harness: Harness
let browser: Browser
let url: string
beforeAll(async () => {
  // Without --public-url the address of a server on loopback is localhost: browsers bind passkeys to a name, which an IP address is not.
  harness = await startHarness()
  url = harness.services.publicUrl()
  browser = await openBrowser()
})
afterAll(async () => {
  await closeTabs(browser)
  await harness.close()
})

/** These run in the page. They are strings, because the tests are compiled for Node and not for the browser. */
const send = `async (path, body) => {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(path, body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(path + ': ' + await answer.text())
  return answer.json()
}`
const addPasskey = `(async () => {
  const send = ${send}
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(await send('/console/passkeys/options', {}))
  const made = await navigator.credentials.create({ publicKey })
  return send('/console/passkeys/verify', { name: 'Laptop', response: made.toJSON() })
})()`
const signInWithPasskey = `(async () => {
  const send = ${send}
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(await send('/console/sign-in/passkey/options', {}))
  const signed = await navigator.credentials.get({ publicKey })
  return send('/console/sign-in/passkey/verify', { response: signed.toJSON() })
})()`
const exchangeLink = (link: string) => `(${send})('/console/session', { link: ${JSON.stringify(link)} })`

async function addAuthenticator(page: Page, isUserVerified = true) {
  const client = await page.context().newCDPSession(page)
  await client.send('WebAuthn.enable')
  const { authenticatorId } = await client.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified,
      automaticPresenceSimulation: true,
    },
  })
  return { client, authenticatorId }
}

test('a person adds a passkey, signs out, and signs in with it, without a name or a secret being typed', async () => {
  const org = await harness.newOrg()
  const { email, link } = await invite(org, 'owner')
  const { page, trouble } = await newTab(browser, url)
  const { client, authenticatorId } = await addAuthenticator(page)
  await page.goto('/sign-in')
  expect(await page.evaluate(exchangeLink(link))).toMatchObject({ user: { email, role: 'owner' } })
  expect(await page.evaluate(addPasskey)).toMatchObject({ name: 'Laptop' })
  const { credentials } = await client.send('WebAuthn.getCredentials', { authenticatorId })
  expect(credentials).toEqual([expect.objectContaining({ isResidentCredential: true, rpId: 'localhost' })])

  await page.evaluate(`fetch('/console/session', { method: 'DELETE' })`)
  expect(await page.evaluate(`fetch('/console/session').then(({ status }) => status)`)).toBe(401)
  expect(await page.evaluate(signInWithPasskey)).toMatchObject({ user: { email, role: 'owner' }, manage: true })
  expect(await page.evaluate(`fetch('/console/session').then(({ status }) => status)`)).toBe(200)
  expect((await entriesOf(org, 'SESSION_STARTED'))[0]).toMatchObject({ details: { after: { via: 'passkey' } } })
  const { sessions } = await page.evaluate<{ sessions: unknown[] }>(`(${send})('/console/sessions')`)
  expect(sessions).toContainEqual(
    expect.objectContaining({ via: 'passkey', current: true, browser: expect.stringMatching(/^Chrome on/) }),
  )
  expectTrouble(trouble, /status of 401/)
})

test('the browser offers no passkey to a page of another host, which links to the right one', async () => {
  const { page, trouble } = await newTab(browser, harness.url)
  await addAuthenticator(page)
  await page.goto('/sign-in')
  const attempt = page.evaluate(signInWithPasskey)
  await expect(attempt).rejects.toThrow(/SecurityError/)
  await page.getByText(`Passkeys work at ${url}, not at this address.`).waitFor()
  await page.getByRole('link', { name: url }).click()
  await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor()
  expect(new URL(page.url()).origin).toBe(url)
  expectTrouble(trouble, /status of 401|^asked http:\/\/localhost:/)
})

const reasons = [
  ['without a public address', { host: '127.0.0.3' }, /Passkeys are off, because the server does not know its address/],
  [
    'at an IP address',
    { publicUrl: 'http://127.0.0.1:8080' },
    /browsers bind them to a name and 127\.0\.0\.1 is an IP/,
  ],
] as const
test.each(isFullForm ? reasons : reasons.slice(0, 1))(
  'passkeys that are off %s are not mentioned when people sign in; the settings say why',
  async (_, options, sentence) => {
    const other = await startHarness(options)
    onTestFinished(() => other.close())
    const { page, trouble } = await newTab(browser, other.url)
    await page.goto('/settings?tab=identity')
    await page.getByLabel('API key', { exact: true }).fill((await other.newOrg()).key)
    expect(await page.getByText(/passkey|company account/i).count()).toBe(0)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText(sentence).waitFor()
    const companyAccounts = page.getByText('Sign-in with a company account is off')
    expect(await companyAccounts.count()).toBe('publicUrl' in options ? 0 : 1)
    expectTrouble(trouble, /status of 401/)
  },
)

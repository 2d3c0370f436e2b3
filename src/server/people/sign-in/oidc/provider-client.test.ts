// Signing in, refreshing and signing out with a real provider on loopback.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { createBodyServer } from '../../../../../test/support/body-server.ts'
import { CookieBrowser } from '../../../../../test/support/oidc/cookie-browser.ts'
import { startTestProvider, type TestProvider } from '../../../../../test/support/oidc/test-provider.ts'
import { type OutboundClient, openOutbound } from '../../../outbound/outbound-fetch.ts'
import { ProviderClient, type ProviderSettings } from './provider-client.ts'

const redirectUri = 'https://rooms.example.org/auth/1/oidc/callback'
let provider: TestProvider
let outbound: OutboundClient
let client: ProviderClient
let settings: ProviderSettings
const logoutTokens: string[] = []
const logoutReceiver = createBodyServer((_request, body, response) => {
  logoutTokens.push(new URLSearchParams(body).get('logout_token') ?? '')
  response.end()
})

beforeAll(async () => {
  provider = await startTestProvider()
  for (const registered of provider.clients) registered.redirectUris = [redirectUri]
  logoutReceiver.listen(0, '127.0.0.1')
  await once(logoutReceiver, 'listening')
  provider.clients[0].backchannelLogoutUri = `http://127.0.0.1:${(logoutReceiver.address() as AddressInfo).port}/`
  outbound = openOutbound({ allow: [], allowLoopback: true })
})
afterAll(async () => {
  await outbound.close()
  await provider.close()
  logoutReceiver.closeAllConnections()
  logoutReceiver.close()
})
beforeEach(() => {
  client = new ProviderClient(outbound.fetch)
  settings = settingsFor(provider)
  provider.addAccount('ada', { name: 'Ada Lovelace', groups: ['rooms-admins', 'staff'] })
  provider.signInAs('ada')
})

const settingsFor = ({ issuer, clients: [{ clientId, clientSecret }] }: TestProvider): ProviderSettings => ({
  issuer,
  clientId,
  clientSecret,
  scopes: ['email', 'profile', 'groups'],
  groupsClaim: 'groups',
  version: '1',
})

async function signIn(browser = new CookieBrowser(), as = settings) {
  const { url, ...flow } = await client.begin(as, redirectUri)
  const callback = await browser.follow(url)
  return client.finish(as, callback, flow)
}

test('a sign-in gives issuer, subject, verified e-mail address, name, groups, session and refresh token', async () => {
  expect(await signIn()).toEqual({
    issuer: provider.issuer,
    subject: 'ada',
    email: 'ada@example.org',
    emailVerified: true,
    name: 'Ada Lovelace',
    groups: ['rooms-admins', 'staff'],
    sid: expect.any(String),
    refreshToken: expect.any(String),
  })
  Object.assign(provider.accounts.get('ada') ?? {}, { emailVerified: false, groups: [] })
  expect(await signIn()).toMatchObject({ emailVerified: false, groups: [] })
})

test('the test provider shows people a form if no account is chosen for them', async () => {
  provider.signInAs(undefined)
  const browser = new CookieBrowser()
  const { url, ...flow } = await client.begin(settings, redirectUri)
  const form = new URL((await browser.request(url)).headers.get('location') ?? '', provider.issuer)
  expect(await (await browser.request(form)).text()).toContain('<input name="subject"')
  const body = new URLSearchParams({ subject: 'ada' })
  const answer = await browser.request(form, { method: 'POST', body })
  const callback = await browser.follow(answer.headers.get('location') ?? '')
  expect(await client.finish(settings, callback, flow)).toMatchObject({ subject: 'ada' })
})

test('claims in the ID token make the request to the UserInfo endpoint unnecessary', async () => {
  const other = await startTestProvider({ claimsInIdToken: true })
  onTestFinished(() => other.close())
  other.clients[0].redirectUris = [redirectUri]
  other.addAccount('ada', { groups: ['staff'] })
  other.signInAs('ada')
  expect(await signIn(new CookieBrowser(), settingsFor(other))).toMatchObject({
    email: 'ada@example.org',
    groups: ['staff'],
  })
  expect(other.requests.filter((path) => path === '/me')).toEqual([])
})

test('the authorisation request uses the code flow with PKCE S256, state, nonce and the scopes', async () => {
  const { url, state, nonce, verifier } = await client.begin(settings, redirectUri)
  const { searchParams } = new URL(url)
  expect(Object.fromEntries(searchParams)).toEqual({
    client_id: settings.clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid email profile groups',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
    state,
    nonce,
  })
  expect(new Set([state, nonce, verifier, searchParams.get('code_challenge')]).size).toBe(4)
})

test('metadata is fetched once for concurrent sign-ins, and again for another version of the settings', async () => {
  const discoveries = () => provider.requests.filter((path) => path.includes('/.well-known/')).length
  const before = discoveries()
  await Promise.all([signIn(), signIn(), client.begin(settings, redirectUri)])
  expect(discoveries() - before).toBe(1)
  await client.begin({ ...settings, version: '2' }, redirectUri)
  expect(discoveries() - before).toBe(2)
})

test('a code works once, with its own verifier, for its own client', async () => {
  const { url, ...flow } = await client.begin(settings, redirectUri)
  const callback = await new CookieBrowser().follow(url)
  await client.finish(settings, callback, flow)
  await expect(client.finish(settings, callback, flow)).rejects.toMatchObject({ reason: 'invalid_grant' })

  const second = await client.begin(settings, redirectUri)
  const secondCallback = await new CookieBrowser().follow(second.url)
  await expect(client.finish(settings, secondCallback, { ...second, verifier: flow.verifier })).rejects.toMatchObject({
    reason: 'invalid_grant',
  })

  const [, { clientId, clientSecret }] = provider.clients
  const third = await client.begin({ ...settings, clientId, clientSecret }, redirectUri)
  const thirdCallback = await new CookieBrowser().follow(third.url)
  await expect(client.finish(settings, thirdCallback, third)).rejects.toMatchObject({ reason: 'invalid_grant' })
})

test('the provider requires PKCE: a request without it comes back as an error', async () => {
  const { url, ...flow } = await client.begin(settings, redirectUri)
  const without = new URL(url)
  without.searchParams.delete('code_challenge')
  without.searchParams.delete('code_challenge_method')
  const callback = await new CookieBrowser().follow(without.href)
  await expect(client.finish(settings, callback, flow)).rejects.toMatchObject({ reason: 'invalid_request' })
})

test('a callback with a wrong or missing state, a wrong or missing issuer, or a parameter twice is refused before the code is used', async () => {
  const { url, ...flow } = await client.begin(settings, redirectUri)
  const callback = await new CookieBrowser().follow(url)
  expect(callback.searchParams.get('iss')).toBe(provider.issuer)
  const changed = (change: (params: URLSearchParams) => void) => {
    const copy = new URL(callback)
    change(copy.searchParams)
    return client.finish(settings, copy, flow)
  }
  const before = provider.requests.length
  await expect(changed((p) => p.set('state', 'x'))).rejects.toMatchObject({ reason: 'state' })
  await expect(changed((p) => p.delete('state'))).rejects.toMatchObject({ reason: 'state' })
  await expect(changed((p) => p.append('state', flow.state))).rejects.toMatchObject({ reason: 'state' })
  await expect(changed((p) => p.delete('iss'))).rejects.toMatchObject({ reason: 'issuer' })
  await expect(changed((p) => p.set('iss', 'https://evil.example.org'))).rejects.toMatchObject({ reason: 'issuer' })
  await expect(changed((p) => p.append('iss', provider.issuer))).rejects.toMatchObject({ reason: 'issuer' })
  await expect(changed((p) => p.append('code', 'x'))).rejects.toMatchObject({ reason: 'answer' })
  expect(provider.requests.length).toBe(before)
  expect(await client.finish(settings, callback, flow)).toMatchObject({ subject: 'ada' })
})

test('a refusal of the provider is its error code and the host, and nothing of its words', async () => {
  provider.addAccount('ada', { isDisabled: true })
  await expect(signIn()).rejects.toThrow(new RegExp(`^${new URL(provider.issuer).host}: access_denied$`))
})

test('a wrong client secret is invalid_client', async () => {
  await expect(signIn(new CookieBrowser(), { ...settings, clientSecret: 'wrong' })).rejects.toMatchObject({
    reason: 'invalid_client',
  })
})

test('keys that the provider has rotated between two sign-ins are fetched again', async () => {
  await signIn()
  provider.rotateKeys()
  expect(await signIn()).toMatchObject({ subject: 'ada' })
})

test('a refresh works until the account is disabled at the provider; another subject is refused', async () => {
  const { refreshToken = '' } = await signIn()
  const second = await client.refresh(settings, refreshToken)
  expect(second.refreshToken).not.toBe(refreshToken)
  await client.verifyRefreshed(settings, second, 'ada')
  await expect(client.verifyRefreshed(settings, second, 'bob')).rejects.toMatchObject({ reason: 'subject' })
  const { refreshToken: third = '' } = await signIn()
  provider.addAccount('ada', { isDisabled: true })
  await expect(client.refresh(settings, third)).rejects.toMatchObject({
    reason: 'invalid_grant',
  })
})

test('a provider that cannot be reached is not a refusal', async () => {
  const other = await startTestProvider()
  const as = settingsFor(other)
  await client.begin(as, redirectUri)
  await other.close()
  await expect(client.refresh(as, 'x')).rejects.toMatchObject({
    reason: 'refused',
    host: new URL(other.issuer).host,
  })
})

test('a sign-out at the provider arrives over the back channel, and names the session of the sign-in', async () => {
  logoutTokens.length = 0
  const browser = new CookieBrowser()
  const { sid } = await signIn(browser)
  await browser.signOut(provider.issuer)
  expect(logoutTokens).toHaveLength(1)
  const [token = ''] = logoutTokens
  expect(await client.logout(settings, token)).toEqual({
    issuer: provider.issuer,
    sid,
    subject: 'ada',
  })
  const [, { clientId, clientSecret }] = provider.clients
  await expect(client.logout({ ...settings, clientId, clientSecret }, token)).rejects.toMatchObject({
    reason: 'audience',
  })
})

test('a provider at an address that is not allowed is never called', async () => {
  const guarded = openOutbound({ allow: [], allowLoopback: false })
  onTestFinished(() => guarded.close())
  const before = provider.requests.length
  await expect(new ProviderClient(guarded.fetch).begin(settings, redirectUri)).rejects.toThrow(
    `${new URL(provider.issuer).host}: address not allowed`,
  )
  expect(provider.requests.length).toBe(before)
})

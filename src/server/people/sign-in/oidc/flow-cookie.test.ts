// The cookie of a sign-in: sealed, short-lived, bound to its organisation, and leading to own pages only.
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { Secrets } from '../../../core/secrets.ts'
import { FlowCookie, type SignInFlow } from './flow-cookie.ts'
import { ownPath } from './own-path.ts'

const secrets = new Secrets(randomBytes(32))
const clock = { at: Date.parse('2026-01-01T00:00:00Z'), now: () => clock.at }
const cookieOf = (publicUrl = 'https://rooms.example.org', with_ = secrets) =>
  new FlowCookie({ secrets: with_, clock, publicUrl })

const flow: SignInFlow = {
  state: 'a state',
  nonce: 'a nonce',
  verifier: 'a verifier',
  orgId: '7',
  issuer: 'https://idp.example.org',
  settingsVersion: '3',
  purpose: 'signIn',
  returnTo: '/rooms?state=offline',
}

/** The part of a Set-Cookie header that the browser sends back. */
const sent = (header: string) => header.split(';')[0] ?? ''

test('is HttpOnly, SameSite=Lax and limited to ten minutes; over HTTPS no other host of the domain can set it', () => {
  expect(cookieOf().store(flow)).toMatch(
    /^__Host-roomkeeper-oidc-7=[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
  )
  expect(cookieOf('https://rooms.example.org:8443').store(flow)).toMatch(/^__Host-roomkeeper-oidc-8443-7=/)
  expect(cookieOf('http://localhost:8080').store(flow)).toMatch(
    /^roomkeeper-oidc-8080=[\w-]+; Path=\/auth\/7\/oidc; .*SameSite=Lax$/,
  )
  expect(cookieOf().expire('7')).toBe('__Host-roomkeeper-oidc-7=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure')
})

test('is limited to the paths of its organisation below a path of the host, where the browser allows no better prefix', () => {
  expect(cookieOf('https://example.org/rooms').store(flow)).toMatch(
    /^__Secure-roomkeeper-oidc=[\w-]+; Path=\/rooms\/auth\/7\/oidc; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
  )
})

test('does not take the place of a flow of another organisation in the same browser', () => {
  const other = { ...flow, orgId: '8' }
  const cookies = [flow, other].map((each) => sent(cookieOf().store(each))).join('; ')
  expect([cookieOf().read(cookies, '7'), cookieOf().read(cookies, '8')]).toEqual([flow, other])
})

test('gives back what was stored, among other cookies, and shows nothing of it to the browser', () => {
  const header = sent(cookieOf().store(flow))
  expect(cookieOf().read(`a=b; ${header}; c=d`, '7')).toEqual(flow)
  const bytes = Buffer.from(header.split('=')[1] ?? '', 'base64url').toString('latin1')
  for (const secret of [flow.state, flow.nonce, flow.verifier]) expect(bytes).not.toContain(secret)
  expect(header.length).toBeLessThan(1000)
})

test('ends after ten minutes, whatever the browser sends', () => {
  const header = sent(cookieOf().store(flow))
  clock.at += 599_999
  expect(cookieOf().read(header, '7')).toEqual(flow)
  clock.at += 1
  expect(cookieOf().read(header, '7')).toBeUndefined()
})

test('is refused at another organisation, with another key, changed, twice, or empty', () => {
  const header = sent(cookieOf().store(flow))
  expect(cookieOf().read(header, '8')).toBeUndefined()
  expect(cookieOf(undefined, new Secrets(randomBytes(32))).read(header, '7')).toBeUndefined()
  const [name = '', value = ''] = header.split('=')
  for (let i = 0; i < value.length; i += 7) {
    const changed = value.slice(0, i) + (value[i] === 'A' ? 'B' : 'A') + value.slice(i + 1)
    expect(cookieOf().read(`${name}=${changed}`, '7'), `character ${i}`).toBeUndefined()
  }
  expect(cookieOf().read(`${header}; ${header}`, '7')).toBeUndefined()
  for (const cookies of [undefined, '', `${name}=`, `${name}=x`, `x${header}`]) {
    expect(cookieOf().read(cookies, '7')).toBeUndefined()
  }
})

test.each(['/', '/rooms', '/rooms?a=b&c=//d#e', '/rooms/%2F%2Fevil.org', '/a//b'])('%s is an own page', (path) => {
  expect(ownPath(path)).toBe(path)
  expect(cookieOf().read(sent(cookieOf().store({ ...flow, returnTo: path })), '7')?.returnTo).toBe(path)
})

test.each([
  ...['https://evil.org', '//evil.org', '///evil.org', '/\\evil.org', '\\\\evil.org', '/\t/evil.org', '/\n/evil.org'],
  ...[
    '\t//evil.org',
    ' //evil.org',
    '/.//evil.org',
    '/..//evil.org',
    '/a/..//evil.org',
    '/%2e//evil.org',
    '/./\\evil.org',
  ],
  ...['javascript:alert(1)', 'evil.org', '@evil.org', '', `/${'a'.repeat(1000)}`],
])('%j is no own page: the sign-in leads to the start page', (text) => {
  const result = ownPath(text)
  expect(new URL(result, 'https://rooms.example.org').origin).toBe('https://rooms.example.org')
  expect(cookieOf().read(sent(cookieOf().store({ ...flow, returnTo: text })), '7')?.returnTo).toBe(result)
  expect(result).toBe('/')
})

test('without a page the sign-in leads to the start page', () => {
  expect(ownPath(undefined)).toBe('/')
})

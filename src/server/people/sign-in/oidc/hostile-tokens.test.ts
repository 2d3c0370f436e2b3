// Tokens and answers that a right provider never sends are refused, each with its word.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type HostileProvider,
  startHostileProvider,
  type TokenOptions,
} from '../../../../../test/support/oidc/hostile-provider.ts'
import { type OutboundClient, openOutbound } from '../../../outbound/outbound-fetch.ts'
import { ProviderClient, type ProviderSettings } from './provider-client.ts'
import { ProviderError } from './provider-error.ts'

const redirectUri = 'https://rooms.example.org/auth/1/oidc/callback'
let provider: HostileProvider
let outbound: OutboundClient
let client: ProviderClient
let settings: ProviderSettings

beforeAll(async () => {
  provider = await startHostileProvider()
  outbound = openOutbound({ allow: [], allowLoopback: true })
  const { issuer, clientId, clientSecret } = provider
  settings = { issuer, clientId, clientSecret, scopes: ['email'], groupsClaim: 'groups', version: '1' }
})
afterAll(async () => {
  await outbound.close()
  await provider.close()
})
beforeEach(() => {
  client = new ProviderClient(outbound.fetch)
  Object.assign(provider, { metadata: {}, idToken: {}, tokenAnswer: undefined, userInfo: { sub: 'ada' } })
})

async function signIn() {
  const { url, ...flow } = await client.begin(settings, redirectUri)
  return client.finish(settings, provider.callbackOf(url), flow)
}

/** Returns the word of the refusal, or "accepted". The error must name the host and nothing else. */
const outcome = async (answer: Promise<unknown>) => {
  const error = await answer.then(
    () => undefined,
    (error) => error,
  )
  if (error === undefined) return 'accepted'
  expect(error).toBeInstanceOf(ProviderError)
  expect(error.message).toBe(`${new URL(provider.issuer).host}: ${error.reason}`)
  return error.reason
}

test('a right token is accepted', async () => {
  expect(await signIn()).toMatchObject({ issuer: provider.issuer, subject: 'ada', email: 'ada@example.org' })
})

describe('an ID token', () => {
  test.each<[string, () => TokenOptions, string]>([
    ['with another nonce', () => ({ claims: { nonce: 'x' } }), 'nonce'],
    ['without a nonce', () => ({ claims: { nonce: undefined } }), 'token'],
    ['for another client', () => ({ claims: { aud: 'another' } }), 'audience'],
    ['for this client and others', () => ({ claims: { aud: ['roomkeeper', 'another'] } }), 'audience'],
    ['of another authorised party', () => ({ claims: { aud: ['roomkeeper', 'x'], azp: 'x' } }), 'audience'],
    ['without an audience', () => ({ claims: { aud: undefined } }), 'token'],
    ['of another issuer', () => ({ claims: { iss: 'https://evil.example.org' } }), 'issuer'],
    ['without a subject', () => ({ claims: { sub: undefined } }), 'token'],
    ['with an empty subject', () => ({ claims: { sub: '' } }), 'answer'],
    ['without an end', () => ({ claims: { exp: undefined } }), 'token'],
    ['that has expired long ago', () => ({ times: { exp: -3600 } }), 'time'],
    ['that has expired 70 s ago', () => ({ times: { exp: -70 } }), 'time'],
    ['that has expired 50 s ago', () => ({ times: { exp: -50 } }), 'accepted'],
    ['that counts in 70 s', () => ({ times: { nbf: 70 } }), 'time'],
    ['that counts in 50 s', () => ({ times: { nbf: 50 } }), 'accepted'],
    ['that will be issued in 70 s', () => ({ times: { iat: 70 } }), 'time'],
    ['that will be issued in 50 s', () => ({ times: { iat: 50 } }), 'accepted'],
    ['without a signature', () => ({ signature: 'none' }), 'algorithm'],
    ['signed with the client secret', () => ({ signature: 'hsClientSecret' }), 'algorithm'],
    ['signed with the public key as a shared secret', () => ({ signature: 'hsPublicKey' }), 'algorithm'],
    ['signed with another key under the id of the right one', () => ({ signature: 'otherKey' }), 'signature'],
    ['signed with an unknown key', () => ({ signature: 'unknownKey' }), 'signature'],
  ])('%s', async (_, options, expected) => {
    provider.idToken = options()
    expect(await outcome(signIn())).toBe(expected)
  })

  test('signed with a key that was rotated a moment ago is accepted', async () => {
    await signIn()
    provider.rotateKeys()
    expect(await outcome(signIn())).toBe('accepted')
    provider.rotateKeys()
    expect(await outcome(signIn())).toBe('accepted')
  })
})

describe('an e-mail address', () => {
  test.each([
    ['is verified by the claim true only', { email_verified: true }, {}, true],
    ['is not verified without the claim', {}, {}, false],
    ['is not verified by a text', { email_verified: 'true' }, {}, false],
    ['of the ID token is not verified by UserInfo', {}, { email: 'ada@example.org', email_verified: true }, false],
    [
      'of UserInfo is not verified by the ID token',
      { email: undefined, email_verified: true },
      { email: 'x@y.z' },
      false,
    ],
  ] as const)('%s', async (_, claims, userInfo, emailVerified) => {
    provider.idToken = { claims: { ...claims } }
    provider.userInfo = { sub: 'ada', ...userInfo }
    expect((await signIn()).emailVerified).toBe(emailVerified)
  })

  test('of another subject in UserInfo is refused', async () => {
    provider.userInfo = { sub: 'bob', email: 'bob@example.org' }
    provider.idToken = { claims: { email: undefined } }
    expect(await outcome(signIn())).not.toBe('accepted')
  })
})

test.each([
  ['a list of texts', ['a', 'b'], ['a', 'b']],
  ['one text', 'a', ['a']],
  ['a list with other values', ['a', 1, null, '', { b: 1 }], ['a']],
  ['an object', { a: true }, []],
  ['nothing', undefined, []],
])('groups may be %s', async (_, groups, expected) => {
  provider.idToken = { claims: { groups } }
  expect((await signIn()).groups).toEqual(expected)
})

describe('metadata', () => {
  test.each([
    ['of another issuer', () => ({ issuer: 'https://evil.example.org' }), 'issuer'],
    ['with an issuer for all tenants', () => ({ issuer: `${provider.issuer}/{tenantid}/v2.0` }), 'issuer'],
    ['without keys', () => ({ jwks_uri: undefined }), 'answer'],
    ['with keys in a file', () => ({ jwks_uri: 'file:///etc/passwd' }), 'answer'],
    ['with a script as the page to sign in', () => ({ authorization_endpoint: 'javascript:alert(1)' }), 'answer'],
    [
      'with a token endpoint in the internal network',
      () => ({ token_endpoint: 'http://10.0.0.1/token' }),
      'address not allowed',
    ],
  ])('%s is refused', async (_, metadata, expected) => {
    provider.metadata = metadata()
    const error = await signIn().catch((error) => error)
    expect(error).toBeInstanceOf(ProviderError)
    expect(error.reason).toBe(expected)
  })

  test('that announces the parameter iss makes a callback without it wrong', async () => {
    provider.metadata = { authorization_response_iss_parameter_supported: true }
    expect(await outcome(signIn())).toBe('issuer')
  })

  test('is not read from an issuer that is the address of metadata', async () => {
    const issuer = `${provider.issuer}/.well-known/openid-configuration`
    expect(await outcome(client.begin({ ...settings, issuer }, redirectUri))).toBe('issuer')
  })
})

describe('an answer of the token endpoint', () => {
  test.each([
    ['that is a redirect', { status: 302, body: '', headers: { Location: 'http://127.0.0.1:1/' } }, 'redirect'],
    ['that is a page', { status: 200, body: '<b>secret</b>', headers: { 'Content-Type': 'text/html' } }, 'answer'],
    ['that is an error of the server', { status: 500, body: '{"secret":1}' }, 'answer'],
    ['that has an error code of its own', { status: 400, body: '{"error":"<b>secret</b>"}' }, 'answer'],
    [
      'that says invalid_grant',
      { status: 400, body: '{"error":"invalid_grant","error_description":"secret"}' },
      'invalid_grant',
    ],
    ['without an ID token', { status: 200, body: '{"access_token":"secret","token_type":"bearer"}' }, 'answer'],
    ['that is too large', { status: 200, body: `{"a":"${'a'.repeat(2_000_000)}"}` }, 'too large'],
  ])('%s', async (_, answer, expected) => {
    provider.tokenAnswer = answer
    expect(await outcome(signIn())).toBe(expected)
  })
})

describe('a logout token', () => {
  const event = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const right = () => ({ jti: 'a', events: event, sid: 's', email: undefined })

  test.each<[string, () => TokenOptions, string]>([
    ['that is right', () => ({ type: 'logout+jwt' }), 'accepted'],
    ['of a provider that gives no type of its own', () => ({}), 'accepted'],
    ['with a session and no subject', () => ({ claims: { sub: undefined } }), 'accepted'],
    ['with a subject and no session', () => ({ claims: { sid: undefined } }), 'accepted'],
    ['with neither', () => ({ claims: { sub: undefined, sid: undefined } }), 'token'],
    ['with a nonce, like an ID token', () => ({ claims: { nonce: 'x' } }), 'token'],
    ['without the event', () => ({ claims: { events: {} } }), 'token'],
    ['with the event as a text', () => ({ claims: { events: Object.keys(event)[0] } }), 'token'],
    ['without events', () => ({ claims: { events: undefined } }), 'token'],
    ['without an id', () => ({ claims: { jti: undefined } }), 'token'],
    ['without a time', () => ({ claims: { iat: undefined } }), 'time'],
    ['from an hour ago', () => ({ times: { iat: -3600 } }), 'time'],
    ['from the future', () => ({ times: { iat: 120 } }), 'time'],
    ['that has expired', () => ({ times: { exp: -61 } }), 'time'],
    ['for another client', () => ({ claims: { aud: 'another' } }), 'audience'],
    ['of another issuer', () => ({ claims: { iss: 'https://evil.example.org' } }), 'issuer'],
    ['of another type', () => ({ type: 'at+jwt' }), 'token'],
    ['without a signature', () => ({ signature: 'none' }), 'algorithm'],
    ['signed with the client secret', () => ({ signature: 'hsClientSecret' }), 'algorithm'],
    ['signed with another key', () => ({ signature: 'otherKey' }), 'signature'],
    ['signed with an unknown key', () => ({ signature: 'unknownKey' }), 'signature'],
  ])('%s', async (_, options, expected) => {
    expect(await outcome(client.logout(settings, await provider.sign(options(), right())))).toBe(expected)
  })

  test('that is no token is refused', async () => {
    for (const text of ['', 'x', 'a.b.c', `${'a'.repeat(10_000)}.b.c`]) {
      expect(await outcome(client.logout(settings, text)), text.slice(0, 10)).toBe('token')
    }
  })

  test('with an unknown key makes the keys be fetched at most every 5 s, however many are sent', async () => {
    await client.logout(settings, await provider.sign({}, right()))
    const before = provider.requests.length
    for (let i = 0; i < 20; i++)
      await outcome(client.logout(settings, await provider.sign({ signature: 'unknownKey' }, right())))
    expect(provider.requests.length - before).toBeLessThanOrEqual(1)
  })
})

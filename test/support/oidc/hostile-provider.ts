// An OpenID Connect provider that answers and signs whatever a test wants, for the attacks that a real one does not make.
import { createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { SignJWT, UnsecuredJWT } from 'jose'
import { createBodyServer } from '../body-server.ts'

type Claims = Record<string, unknown>

/** `otherKey` has the id of the right key. `hsPublicKey` uses the text of the public key as the shared secret. */
type Signature = 'right' | 'otherKey' | 'unknownKey' | 'none' | 'hsClientSecret' | 'hsPublicKey'

export interface TokenOptions {
  /** Replaces claims of a right token; undefined leaves one out. */
  readonly claims?: Claims
  /** Replaces times, in seconds from the moment of signing. */
  readonly times?: Readonly<Record<string, number>>
  readonly signature?: Signature
  readonly type?: string
}

export interface HostileProvider {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** The paths of all requests so far. */
  readonly requests: readonly string[]
  /** Replaces members of the metadata. */
  metadata: Claims
  /** Says how the ID token of the next answer differs from a right one. */
  idToken: TokenOptions
  /** Is sent instead of a right answer of the token endpoint. */
  tokenAnswer: { readonly status: number; readonly body: string; readonly headers?: Record<string, string> } | undefined
  userInfo: Claims
  rotateKeys(): void
  /** Signs a token for the client. */
  sign(options: TokenOptions, rightClaims?: Claims): Promise<string>
  /** Returns where a right provider would send the browser after this authorisation request. */
  callbackOf(authorizationUrl: string): URL
  close(): Promise<void>
}

export async function startHostileProvider(): Promise<HostileProvider> {
  let key = newKey()
  const nonces = new Map<string, string>()
  const requests: string[] = []
  const server = createBodyServer(async (request, body, response) => {
    const { pathname } = new URL(request.url ?? '', hostile.issuer)
    requests.push(pathname)
    const json = (value: unknown) => response.setHeader('Content-Type', 'application/json').end(JSON.stringify(value))
    if (pathname === '/.well-known/openid-configuration') return json({ ...rightMetadata(), ...hostile.metadata })
    if (pathname === '/keys') return json({ keys: [publicJwk(key)] })
    if (pathname === '/userinfo') return json(hostile.userInfo)
    if (pathname !== '/token') return response.writeHead(404).end()
    if (hostile.tokenAnswer) {
      const { status, body, headers } = hostile.tokenAnswer
      return response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body)
    }
    const nonce = nonces.get(new URLSearchParams(body).get('code') ?? '')
    // A test about one second must not begin near the end of a second.
    if (hostile.idToken.times && Date.now() % 1000 > 500) await delay(1000 - (Date.now() % 1000))
    const id_token = await hostile.sign(hostile.idToken, { nonce })
    json({ access_token: randomUUID(), token_type: 'Bearer', expires_in: 600, refresh_token: randomUUID(), id_token })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const rightMetadata = () => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/keys`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    // The worst provider announces all of them.
    id_token_signing_alg_values_supported: ['ES256', 'HS256', 'none'],
  })

  const hostile: HostileProvider = {
    issuer,
    clientId: 'roomkeeper',
    clientSecret: 'a secret of at least 256 bits for the client',
    requests,
    metadata: {},
    idToken: {},
    tokenAnswer: undefined,
    userInfo: {},
    rotateKeys: () => {
      key = newKey()
    },
    sign: async ({ claims = {}, times = {}, signature = 'right', type = 'JWT' }, rightClaims = {}) => {
      const now = Math.floor(Date.now() / 1000)
      const right = {
        iss: issuer,
        sub: 'ada',
        aud: hostile.clientId,
        iat: now,
        exp: now + 300,
        email: 'ada@example.org',
      }
      const timed = Object.fromEntries(Object.entries(times).map(([claim, seconds]) => [claim, now + seconds]))
      const payload = JSON.parse(JSON.stringify({ ...right, ...rightClaims, ...claims, ...timed }))
      if (signature === 'none') return new UnsecuredJWT(payload).encode()
      const isHmac = signature === 'hsClientSecret' || signature === 'hsPublicKey'
      const kid = signature === 'unknownKey' ? randomUUID() : key.kid
      const token = new SignJWT(payload).setProtectedHeader({ alg: isHmac ? 'HS256' : 'ES256', kid, typ: type })
      if (signature === 'hsClientSecret') return token.sign(Buffer.from(hostile.clientSecret))
      if (signature === 'hsPublicKey') return token.sign(Buffer.from(publicPem(key)))
      return token.sign(signature === 'right' ? key.privateKey : newKey().privateKey)
    },
    callbackOf: (authorizationUrl) => {
      const { searchParams } = new URL(authorizationUrl)
      const code = randomUUID()
      nonces.set(code, searchParams.get('nonce') ?? '')
      const callback = new URL(searchParams.get('redirect_uri') ?? '')
      callback.search = new URLSearchParams({ code, state: searchParams.get('state') ?? '' }).toString()
      return callback
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
  return hostile
}

interface SigningKey {
  readonly kid: string
  readonly privateKey: KeyObject
}

const newKey = (): SigningKey => ({
  kid: randomUUID(),
  privateKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
})

const publicJwk = ({ kid, privateKey }: SigningKey) => ({
  ...createPublicKey(privateKey).export({ format: 'jwk' }),
  kid,
  use: 'sig',
})

const publicPem = ({ privateKey }: SigningKey) =>
  createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString()

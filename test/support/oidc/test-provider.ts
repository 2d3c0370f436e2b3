// A real OpenID Connect provider on loopback, with accounts, clients and keys that tests change while it runs.
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import Provider, { type AdapterPayload, type Configuration, type JWK } from 'oidc-provider'
import { memoryStore } from './memory-store.ts'

export interface TestAccount {
  email: string
  emailVerified: boolean
  name: string
  groups: string[]
  /** A disabled account can neither sign in nor refresh its tokens. */
  isDisabled: boolean
}

export interface TestClient {
  readonly clientId: string
  readonly clientSecret: string
  redirectUris: string[]
  backchannelLogoutUri?: string
}

export interface TestProvider {
  readonly issuer: string
  /** Two clients, which may change as soon as the address of the service is known. */
  readonly clients: readonly [TestClient, TestClient]
  /** By their subjects. */
  readonly accounts: Map<string, TestAccount>
  /** The paths of all requests so far. */
  readonly requests: readonly string[]
  /** Is called before a request is answered. If it fails, the answer is a 500. */
  beforeAnswer: ((path: string) => Promise<void>) | undefined
  addAccount(subject: string, account?: Partial<TestAccount>): TestAccount
  /** Everybody who comes to sign in is this account, without a page. Undefined shows a page with a field for the subject. */
  signInAs(subject: string | undefined): void
  rotateKeys(): void
  close(): Promise<void>
}

interface TestProviderOptions {
  /** Puts e-mail address and groups into the ID token; otherwise only the UserInfo endpoint has them. */
  readonly claimsInIdToken?: boolean
}

export async function startTestProvider({ claimsInIdToken = false }: TestProviderOptions = {}): Promise<TestProvider> {
  const accounts = new Map<string, TestAccount>()
  const clients: [TestClient, TestClient] = [newClient('roomkeeper'), newClient('another')]
  const requests: string[] = []
  const adapter = memoryStore((id) => clientMetadata(clients.find(({ clientId }) => clientId === id)))
  let provider: Provider
  let automatic: string | undefined

  const server = createServer((request, response) => {
    requests.push(request.url ?? '')
    answer(request, response).catch((error) => response.writeHead(500).end(String(error)))
  })
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    await testProvider.beforeAnswer?.(request.url ?? '')
    if (request.url?.startsWith('/interaction/')) await interact(request, response)
    else await provider.callback()(request, response)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const makeProvider = () => {
    const made: Provider = new Provider(issuer, {
      adapter,
      jwks: { keys: [newKey()] },
      cookies: { keys: ['a key for the cookies of tests'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
      conformIdTokenClaims: !claimsInIdToken,
      features: {
        devInteractions: { enabled: false },
        backchannelLogout: { enabled: true },
        rpInitiatedLogout: signOutPages,
      },
      interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
      pkce: { required: () => true },
      // A refresh token works once. The second use of one revokes all tokens of the sign-in.
      rotateRefreshToken: true,
      issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
      ttl: {
        AccessToken: 600,
        AuthorizationCode: 60,
        Grant: 86_400,
        IdToken: 600,
        Interaction: 600,
        RefreshToken: 86_400,
        Session: 86_400,
      },
      // By default a provider refuses to call loopback addresses.
      fetch: (url, init) => {
        const { dispatcher: _, ...rest } = init as RequestInit
        return fetch(url, rest)
      },
      findAccount: (_ctx, subject) => {
        const account = accounts.get(subject)
        if (!account || account.isDisabled) return undefined
        const { email, emailVerified: email_verified, name, groups } = account
        return { accountId: subject, claims: () => ({ sub: subject, email, email_verified, name, groups }) }
      },
      // Everything is granted, so that no page asks for consent.
      loadExistingGrant: async ({ oidc }) => {
        const [clientId, accountId] = [oidc.client?.clientId ?? '', oidc.session?.accountId ?? '']
        const known = oidc.session?.grantIdFor(clientId)
        const grant = (known && (await made.Grant.find(known))) || new made.Grant({ clientId, accountId })
        grant.addOIDCScope('openid email profile groups offline_access')
        await grant.save()
        return grant
      },
    })
    return made
  }
  provider = makeProvider()

  const interact = async (request: IncomingMessage, response: ServerResponse) => {
    const form = request.method === 'POST' ? new URLSearchParams(await text(request)) : undefined
    const subject = automatic ?? form?.get('subject')
    if (!subject) return void response.writeHead(200, { 'Content-Type': 'text/html' }).end(signInPage)
    if (accounts.get(subject)?.isDisabled ?? true) {
      const refusal = { error: 'access_denied', error_description: '<b>This account is disabled.</b>' }
      return provider.interactionFinished(request, response, refusal)
    }
    return provider.interactionFinished(request, response, { login: { accountId: subject } })
  }

  const testProvider: TestProvider = {
    issuer,
    clients,
    accounts,
    requests,
    beforeAnswer: undefined,
    addAccount: (subject, given = {}) => {
      const account = {
        email: `${subject}@example.org`,
        emailVerified: true,
        name: subject,
        groups: [],
        isDisabled: false,
        ...given,
      }
      accounts.set(subject, account)
      return account
    },
    signInAs: (subject) => {
      automatic = subject
    },
    rotateKeys: () => {
      provider = makeProvider()
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
  return testProvider
}

const signInPage = `<!doctype html><html lang="en"><title>Sign in at the test provider</title>
<form method="post"><label>Subject <input name="subject" autofocus></label> <button>Sign in</button></form></html>`

/** The form of the page has an id, and a button outside of it sends it. */
const signOutPages: NonNullable<Configuration['features']>['rpInitiatedLogout'] = {
  enabled: true,
  logoutSource: (ctx, form) => {
    ctx.body = `<!doctype html><html lang="en"><title>Sign out</title>${form}
<button form="op.logoutForm" name="logout" value="yes">Sign out</button></html>`
  },
  postLogoutSuccessSource: (ctx) => {
    ctx.body = '<!doctype html><html lang="en"><title>Signed out</title></html>'
  },
}

const newClient = (clientId: string): TestClient => ({ clientId, clientSecret: randomUUID(), redirectUris: [] })

const clientMetadata = (client: TestClient | undefined): AdapterPayload | undefined =>
  client && {
    client_id: client.clientId,
    client_secret: client.clientSecret,
    redirect_uris: client.redirectUris,
    grant_types: ['authorization_code', 'refresh_token'],
    id_token_signed_response_alg: 'ES256',
    backchannel_logout_session_required: true,
    ...(client.backchannelLogoutUri ? { backchannel_logout_uri: client.backchannelLogoutUri } : {}),
  }

const newKey = (): JWK => ({
  ...(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }) as JWK),
  kid: randomUUID(),
  use: 'sig',
  alg: 'ES256',
})

// Serves the addresses of a sign-in at an organisation's provider: its begin, the way back, and the back channel. [contract 11.oidc]

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Services } from '../../../context/services.ts'
import { Failure } from '../../../core/failure.ts'
import type { Log } from '../../../core/log.ts'
import type { Metrics } from '../../../core/metrics/metrics.ts'
import { publicPathOf } from '../../../core/public-path.ts'
import type { CountRefusal } from '../../../http/gate.ts'
import { auditRef } from '../../../journal/audit/change-result.ts'
import { findOrg } from '../../../journal/orgs/store.ts'
import { readIdentity } from '../../identity/settings.ts'
import { openTicket } from '../../identity/test-ticket.ts'
import { browserName } from '../../sessions/browser-name.ts'
import { type BrowserSessions, originOf } from '../../sessions/browser-sessions.ts'
import { recordRefusedSignIn } from '../../sessions/refusals.ts'
import { signInActor } from '../../sessions/sign-in-context.ts'
import { endProviderSessions } from './backchannel.ts'
import { FlowCookie, type SignInFlow } from './flow-cookie.ts'
import type { LoadProviders } from './load-providers.ts'
import { ownPath } from './own-path.ts'
import {
  brokenFlowPage,
  notSetUpPage,
  type ProviderPage,
  providerErrorPage,
  refusedPage,
  sendPage,
  testPage,
  tooManyPage,
} from './pages.ts'
import type { ProviderSignIn } from './provider-client.ts'
import { ProviderError } from './provider-error.ts'
import { providerSettingsOf } from './provider-settings.ts'
import { SettingsChanged, SignInRefused, signInByProvider } from './sign-in.ts'
import { finishTest } from './test-result.ts'

export interface ProviderRouteOptions {
  readonly services: Services
  readonly browser: BrowserSessions
  readonly refuse: CountRefusal
  readonly metrics: Metrics
  readonly log: Log
  readonly providers: LoadProviders
  /** The value of --public-url. Without it the sign-in with a provider is off. */
  readonly publicUrl: string | undefined
}

export function providerRoutes(app: FastifyInstance, options: ProviderRouteOptions): void {
  const exchange = makeExchange(options)
  beginRoute(app, options, exchange)
  callbackRoute(app, options, exchange)
  backchannelRoute(app, options, exchange)
}

type Exchange = ReturnType<typeof makeExchange>
type FoundProvider = NonNullable<Awaited<ReturnType<Exchange['findProvider']>>>

/** The steps that the addresses share: they find the provider, and show pages to the person. */
function makeExchange({ services, refuse, metrics, log, publicUrl }: ProviderRouteOptions) {
  const { db, secrets, clock } = services
  const publicPath = publicPathOf(publicUrl ?? '')
  const flows = new FlowCookie({ secrets, clock, publicUrl: publicUrl ?? 'http://localhost' })
  const show = (reply: FastifyReply, page: ProviderPage) => sendPage(reply, publicPath, page)

  /** Returns undefined if the organisation does not exist or has no provider; `mayBeOff` allows one that is not turned on. */
  const findProvider = async (orgId: string, mayBeOff: boolean) => {
    const row = publicUrl === undefined ? undefined : await findOrg(db.system, { id: orgId })
    if (!row) return undefined
    const identity = await readIdentity(db.forOrg(row.key), secrets)
    const provider = providerSettingsOf(secrets, identity)
    if (!provider || !(identity.settings.enabled || mayBeOff)) return undefined
    const org = { key: row.key, id: row.id }
    return { org, provider, settings: identity.settings, redirectUri: `${publicUrl}/auth/${org.id}/oidc/callback` }
  }

  /** A failed attempt counts like a wrong token of the same address. Returns the page to show. */
  const countFailure = (request: FastifyRequest, page: ProviderPage): ProviderPage => {
    metrics.signIn('oidc', 'refused')
    const failure = refuse(request, new Failure('UNAUTHENTICATED', page.title))
    return failure.code === 'RESOURCE_EXHAUSTED' ? tooManyPage : page
  }
  const showRefusal = (request: FastifyRequest, reply: FastifyReply, page: ProviderPage) =>
    show(reply, countFailure(request, page))

  /** Errors of the network do not count as failed attempts. */
  const showProviderError = (request: FastifyRequest, reply: FastifyReply, error: unknown, orgId: string) => {
    if (!(error instanceof ProviderError)) throw error
    log.warn({ org: orgId, reason: error.message }, 'sign-in at the provider failed')
    const page = providerErrorPage(error.host, error.reason)
    return isForged(error) ? showRefusal(request, reply, page) : show(reply, page)
  }

  return { publicPath, flows, show, findProvider, countFailure, showRefusal, showProviderError }
}

function beginRoute(
  app: FastifyInstance,
  { services: { secrets, clock }, browser, providers }: ProviderRouteOptions,
  { flows, show, findProvider, showProviderError }: Exchange,
): void {
  app.get('/auth/:orgid/oidc', async (request, reply) => {
    const { orgid } = request.params as { orgid: string }
    const { test, returnTo } = request.query as { test?: unknown; returnTo?: unknown }
    const ticket = typeof test === 'string' ? openTicket(secrets, clock, test, orgid) : undefined
    if (test !== undefined && !ticket) return show(reply, brokenFlowPage)
    const found = await findProvider(orgid, ticket !== undefined)
    if (!found) return show(reply, notSetUpPage)
    if (ticket && ticket.hash !== found.provider.version) return show(reply, brokenFlowPage)
    try {
      const { url, ...flow } = await (await providers()).begin(found.provider, found.redirectUri)
      const previousSession = browser.secretOf(request)
      reply.header(
        'Set-Cookie',
        flows.store({
          ...flow,
          orgId: orgid,
          issuer: found.provider.issuer,
          settingsVersion: found.provider.version,
          purpose: ticket ? 'test' : 'signIn',
          returnTo: ownPath(typeof returnTo === 'string' ? returnTo : undefined),
          ...(ticket ? { testedBy: ticket.actor } : {}),
          ...(previousSession === undefined ? {} : { previousSession }),
        }),
      )
      return reply.header('Cache-Control', 'no-store').redirect(url, 303)
    } catch (error) {
      return showProviderError(request, reply, error, orgid)
    }
  })
}

function callbackRoute(app: FastifyInstance, options: ProviderRouteOptions, exchange: Exchange): void {
  const { services, providers } = options
  const { flows, show, findProvider, showRefusal, showProviderError } = exchange
  app.get('/auth/:orgid/oidc/callback', async (request, reply) => {
    const { orgid } = request.params as { orgid: string }
    const flow = flows.read(request.headers.cookie, orgid)
    const found = flow && (await findProvider(orgid, flow.purpose === 'test'))
    if (!found || found.provider.issuer !== flow.issuer || found.provider.version !== flow.settingsVersion) {
      return showRefusal(request, reply, brokenFlowPage)
    }
    // The flow is used up, whatever comes of it.
    reply.header('Set-Cookie', flows.expire(orgid))
    const callback = new URL(found.redirectUri)
    callback.search = URL.parse(request.url, found.redirectUri)?.search ?? ''
    let signedIn: ProviderSignIn
    try {
      signedIn = await (await providers()).finish(found.provider, callback, flow)
    } catch (error) {
      return showProviderError(request, reply, error, orgid)
    }
    if (flow.purpose === 'test') {
      const { settingsVersion: hash, testedBy: actor = signInActor } = flow
      const run = { org: found.org, hash, actor, identity: signedIn }
      const { decision, isPassed } = await finishTest(services, run, originOf(request))
      return show(reply, testPage(signedIn, decision, isPassed))
    }
    return finishSignIn(options, exchange, { request, reply, flow, found, signedIn })
  })
}

interface FinishedFlow {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly flow: SignInFlow
  readonly found: FoundProvider
  readonly signedIn: ProviderSignIn
}

async function finishSignIn(
  { services, browser, metrics }: ProviderRouteOptions,
  { publicPath, show, countFailure, showRefusal }: Exchange,
  { request, reply, flow, found, signedIn }: FinishedFlow,
) {
  const { org, settings } = found
  // The cookie of the session is hidden on the way back from another site.
  const before = await browser.findBySecret(flow.previousSession)
  const isOfOrg = before?.org.key === org.key && before.key === undefined
  try {
    const secret = await signInByProvider(services, {
      org,
      settings,
      settingsVersion: flow.settingsVersion,
      signedIn,
      sessionUserId: isOfOrg ? before.user?.id : undefined,
      browser: browserName(request.headers['user-agent']),
      origin: originOf(request),
    })
    await browser.start(request, reply, secret, before)
    metrics.signIn('oidc', 'accepted')
    return reply.header('Cache-Control', 'no-store').redirect(publicPath + flow.returnTo, 303)
  } catch (error) {
    if (error instanceof SettingsChanged) return showRefusal(request, reply, brokenFlowPage)
    if (!(error instanceof SignInRefused)) throw error
    const { issuer, subject, email = subject } = signedIn
    const target = auditRef('identity', { id: subject, name: email })
    const refusal = { identity: `${issuer} ${subject}`, target, via: 'oidc', reason: error.reason } as const
    const page = countFailure(request, refusedPage(error.reason))
    // At some providers everybody may register, so an address with many attempts must not fill the audit log.
    if (page !== tooManyPage) await recordRefusedSignIn(services, org, refusal, originOf(request))
    return show(reply, page)
  }
}

function backchannelRoute(
  app: FastifyInstance,
  { services, refuse, providers }: ProviderRouteOptions,
  { findProvider }: Exchange,
): void {
  // Only this address reads forms. A logout token is some hundred bytes long, so the limit for callers without a session is enough.
  app.register(async (plugin) => {
    const type = 'application/x-www-form-urlencoded'
    plugin.addContentTypeParser(type, { parseAs: 'string' }, (_request, body, done) =>
      done(null, new URLSearchParams(String(body))),
    )
    plugin.post('/auth/:orgid/oidc/backchannel', async (request, reply) => {
      const { orgid } = request.params as { orgid: string }
      reply.header('Cache-Control', 'no-store')
      const token = request.body instanceof URLSearchParams ? request.body.get('logout_token') : null
      // Sessions go on when the provider is turned off, so it must still be able to end them.
      const found = await findProvider(orgid, true)
      if (!found || !token) return reply.code(400).send({ error: 'invalid_request' })
      try {
        const logout = await (await providers()).logout(found.provider, token)
        await endProviderSessions(services, found.org, logout, originOf(request))
        return reply.code(200).send()
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error
        const isTooMany = isForged(error) && refuse(request, forgedToken).code === 'RESOURCE_EXHAUSTED'
        return reply.code(isTooMany ? 429 : 400).send({ error: 'invalid_request' })
      }
    })
  })
}

const forgedToken = new Failure('UNAUTHENTICATED', 'The logout token is not valid.')

const reasonsOfForgery: readonly string[] = [
  'issuer',
  'state',
  'nonce',
  'audience',
  'subject',
  'time',
  'algorithm',
  'signature',
  'token',
  'invalid_grant',
]
const isForged = ({ reason }: ProviderError) => reasonsOfForgery.includes(reason)

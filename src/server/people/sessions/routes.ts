// Serves the sign-in, the current session and the sign-out of the console, and a person's own sessions. [contract 9.session]

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { SignIn, sessionPath } from '../../../contract/people/session.ts'
import { ownSessionsPath } from '../../../contract/people/sign-in.ts'
import type { Keyring } from '../../auth/keyring.ts'
import { hasUserLinkPrefix } from '../../auth/token.ts'
import type { OperationHandlers } from '../../context/handlers.ts'
import type { RequestOrigin } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { Failure, invalid } from '../../core/failure.ts'
import type { SignInCounter } from '../../core/metrics/metrics.ts'
import { badToken, type CountRefusal, takeFromRateLimit } from '../../http/gate.ts'
import { bodyReader } from '../../http/input/input.ts'
import { auditRef } from '../../journal/audit/change-result.ts'
import { browserName } from './browser-name.ts'
import { type BrowserSessions, originOf } from './browser-sessions.ts'
import { endOwnSession, listOwnSessions } from './own-sessions.ts'
import { recordRefusedSignIn } from './refusals.ts'
import { badLink, linkHolder, sessionEnd, sessionStart, sessionStartByLink } from './rules.ts'
import type { UserLink } from './user-link-store.ts'
import { badUserLink, findUserLinkBySecret, sessionStartByUserLink, usersInvite } from './user-links.ts'

export const userLinkRoutes: OperationHandlers<'usersInvite'> = {
  usersInvite: (ctx, { params }) => usersInvite(ctx, params.id),
}

interface SessionRouteOptions {
  readonly services: Services
  readonly keyring: Keyring
  readonly browser: BrowserSessions
  readonly refuse: CountRefusal
  readonly countSignIn: SignInCounter
}

const keyOrLinkRequired = () => invalid([{ field: 'body', error: 'must have key or link, one of the two' }])

export function sessionRoutes(
  app: FastifyInstance,
  { services, keyring, browser, refuse, countSignIn }: SessionRouteOptions,
): void {
  const readSignIn = bodyReader(SignIn, {}) as (body: unknown) => SignIn
  const onRequest = browser.checkOrigin

  const startByKeyLink = async (request: FastifyRequest, link: string, origin: RequestOrigin) => {
    const holder = await linkHolder(services, link)
    if (!holder) throw refuse(request, badLink())
    return sessionStartByLink(services, holder, link, origin)
  }

  const startByUserLink = async (request: FastifyRequest, secret: string, email: string | undefined) => {
    const origin = originOf(request)
    const link = await findUserLinkBySecret(services, secret)
    try {
      if (!link) throw badUserLink()
      const started = await sessionStartByUserLink(
        services,
        link,
        { email, browser: browserName(request.headers['user-agent']) },
        origin,
      )
      countSignIn('link', 'accepted')
      return started
    } catch (error) {
      // A missing or taken e-mail address is corrected by the same person with the same link.
      if (!(error instanceof Failure) || error.code !== 'UNAUTHENTICATED') throw error
      countSignIn('link', 'refused')
      if (link) await recordRefusedSignIn(services, link.org, refusalOf(link, error), origin)
      throw refuse(request, error)
    }
  }

  app.post(sessionPath, { onRequest }, async (request, reply) => {
    const { key, link, email } = readSignIn(request.body)
    if ((key === undefined) === (link === undefined)) throw keyOrLinkRequired()
    const origin = originOf(request)
    let secret: string
    if (key !== undefined) {
      const caller = await keyring.find(key)
      if (!caller?.key) throw refuse(request, badToken(key))
      const failure = takeFromRateLimit(caller, reply, services.clock.now())
      if (failure) throw failure
      secret = await sessionStart(services, { ...caller, key: caller.key }, origin)
    } else if (hasUserLinkPrefix(link ?? '')) secret = await startByUserLink(request, link ?? '', email)
    else secret = await startByKeyLink(request, link ?? '', origin)
    return browser.answer(reply, await browser.view(await browser.start(request, reply, secret)))
  })

  app.get(sessionPath, { onRequest }, async (request, reply) =>
    browser.answer(reply, await browser.view(await browser.require(request, reply))),
  )

  app.delete(sessionPath, { onRequest }, async (request, reply) => {
    const caller = await browser.find(request)
    request.caller = caller
    if (caller) await sessionEnd(services, caller, originOf(request))
    browser.expireCookie(request, reply)
    return browser.answer(reply, {})
  })

  app.get(ownSessionsPath, { onRequest }, async (request, reply) => {
    const person = await browser.requirePerson(request, reply)
    return browser.answer(reply, await listOwnSessions(services, person))
  })

  app.delete<{ Params: { id: string } }>(`${ownSessionsPath}/:id`, { onRequest }, async (request, reply) => {
    const person = await browser.requirePerson(request, reply)
    const { isCurrent } = await endOwnSession(services, person, request.params.id, originOf(request))
    if (isCurrent) browser.expireCookie(request, reply)
    return browser.answer(reply, {})
  })
}

const refusalOf = ({ user, org }: UserLink, { message }: Failure) => ({
  identity: user ? `user ${user.id}` : 'first owner',
  target: user
    ? auditRef('user', { id: user.id, name: user.email })
    : auditRef('organisation', { ...org, name: org.id }),
  via: 'link' as const,
  reason: message,
})

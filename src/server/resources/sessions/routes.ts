// Serves the sign-in, the current session and the sign-out of the console. [contract 9.session]

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { scopes } from '../../../contract/people/permissions.ts'
import { type ConsoleSession, SignIn, sessionPath } from '../../../contract/people/session.ts'
import type { Caller, Keyring } from '../../auth/keyring.ts'
import { sessionKindOf } from '../../auth/token.ts'
import type { KeyHolder, TokenHolder } from '../../auth/token-holder.ts'
import type { Services } from '../../context/services.ts'
import { invalid } from '../../core/failure.ts'
import { programVersion } from '../../core/program-version.ts'
import { sendJson } from '../../http/answer.ts'
import { type SessionCookie, sessionEnded, signInFirst } from '../../http/browser/session-cookie.ts'
import { badToken, type CountRefusal, takeFromRateLimit } from '../../http/gate.ts'
import { bodyReader } from '../../http/input/input.ts'
import { findOrg } from '../orgs/store.ts'
import { badLink, linkHolder, sessionEnd, sessionStart, sessionStartByLink } from './rules.ts'

interface SessionRouteOptions {
  readonly services: Services
  readonly keyring: Keyring
  readonly cookie: SessionCookie
  readonly refuse: CountRefusal
}

const keyOrLinkRequired = () => invalid([{ field: 'body', error: 'must have key or link, one of the two' }])

export function sessionRoutes(app: FastifyInstance, { services, keyring, cookie, refuse }: SessionRouteOptions): void {
  const readSignIn = bodyReader(SignIn, {}) as (body: unknown) => SignIn
  const version = programVersion()

  /** Requests from other sites are refused, so that they cannot sign a user in or out. */
  const onRequest = (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) =>
    done(cookie.originProblem(request))

  const view = async (holder: TokenHolder): Promise<ConsoleSession> => {
    const org = await findOrg(services.db.system, { id: holder.org.id })
    return {
      org: { id: holder.org.id, name: org?.name ?? '', timezone: org?.timezone ?? 'UTC' },
      ...(holder.user
        ? { user: { id: String(holder.user.id), email: holder.actor.name, role: holder.user.role } }
        : holder.key && { key: { id: String(holder.key.id), name: holder.key.name } }),
      scopes: scopes.filter((scope) => holder.permissions[scope]),
      manage: holder.permissions.manage,
      allRegions: holder.access.isEverything,
      regionIds: holder.access.regionIds ?? [],
      airLimits: services.settings.airLimits,
      version,
    }
  }
  const answer = (reply: FastifyReply, value: object) =>
    sendJson(reply.header('Cache-Control', 'no-store'), JSON.stringify(value))

  const signedIn = async (request: FastifyRequest): Promise<Caller | undefined> =>
    keyring.find(cookie.read(request) ?? '', sessionKindOf(cookie.read(request) ?? ''))

  app.post(sessionPath, { onRequest }, async (request, reply) => {
    const { key, link } = readSignIn(request.body)
    if ((key === undefined) === (link === undefined)) throw keyOrLinkRequired()
    const origin = { requestId: request.id, ip: request.ip }
    const before = await signedIn(request)
    let holder: KeyHolder | undefined
    let secret: string
    if (key !== undefined) {
      const caller = await keyring.find(key)
      if (!caller?.key) throw refuse(request, badToken(key))
      const failure = takeFromRateLimit(caller, reply, services.clock.now())
      if (failure) throw failure
      holder = { ...caller, key: caller.key }
      secret = await sessionStart(services, holder, origin)
    } else {
      holder = await linkHolder(services, link ?? '')
      if (!holder) throw refuse(request, badLink())
      secret = await sessionStartByLink(services, holder, link ?? '', origin)
    }
    if (before) await sessionEnd(services, before, origin)
    request.caller = await keyring.find(secret, 'session')
    reply.header('Set-Cookie', cookie.store(request, secret))
    return answer(reply, await view(holder))
  })

  app.get(sessionPath, { onRequest }, async (request, reply) => {
    // A first visit to the console has no cookie, and does not count as a failed authentication.
    if (cookie.read(request) === undefined)
      throw signInFirst('You are not signed in. Sign in with an API key or a link.')
    const caller = await signedIn(request)
    if (!caller) throw refuse(request, sessionEnded())
    request.caller = caller
    const failure = takeFromRateLimit(caller, reply, services.clock.now())
    if (failure) throw failure
    return answer(reply, await view(caller))
  })

  app.delete(sessionPath, { onRequest }, async (request, reply) => {
    const caller = await signedIn(request)
    request.caller = caller
    if (caller) await sessionEnd(services, caller, { requestId: request.id, ip: request.ip })
    reply.header('Set-Cookie', cookie.expire(request))
    return answer(reply, {})
  })
}

// The session of a browser: finds it, puts a new one in its place, and says who is signed in. [contract 9.session]

import type { FastifyReply, FastifyRequest } from 'fastify'
import { defaultAirLimits } from '../../../contract/journal/orgs.ts'
import { shownScopes } from '../../../contract/people/permissions.ts'
import type { ConsoleSession } from '../../../contract/people/session.ts'
import { sessionEnded, signInFirst } from '../../auth/failures.ts'
import type { Caller, Keyring } from '../../auth/keyring.ts'
import { sessionKindOf } from '../../auth/token.ts'
import type { TokenHolder } from '../../auth/token-holder.ts'
import { parseAirLimits } from '../../config/air-limits.ts'
import type { RequestOrigin } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { isoTime } from '../../core/clock.ts'
import { Failure } from '../../core/failure.ts'
import { programVersion } from '../../core/program-files.ts'
import { sendJson } from '../../http/answer.ts'
import type { SessionCookie } from '../../http/browser/session-cookie.ts'
import { type CountRefusal, takeFromRateLimit } from '../../http/gate.ts'
import { findOrg } from '../../journal/orgs/store.ts'
import { sessionEnd } from './rules.ts'
import { findUserName } from './user-session-store.ts'

export interface BrowserSessionOptions {
  readonly services: Services
  readonly keyring: Keyring
  readonly cookie: SessionCookie
  readonly refuse: CountRefusal
}

/** A person who is signed in with a session of their own. */
export type UserCaller = Caller & {
  readonly user: NonNullable<Caller['user']>
  readonly session: NonNullable<Caller['session']>
}

export const originOf = ({ id, ip }: FastifyRequest): RequestOrigin => ({ requestId: id, ip })

export class BrowserSessions {
  readonly #options: BrowserSessionOptions

  constructor(options: BrowserSessionOptions) {
    this.#options = options
  }

  /** A hook of Fastify: requests from other sites are refused, so that they cannot sign a user in or out. */
  readonly checkOrigin = (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void =>
    done(this.#options.cookie.originProblem(request))

  /** The secret in the request's cookie. Its session may have ended. */
  secretOf(request: FastifyRequest): string | undefined {
    return this.#options.cookie.read(request)
  }

  /** The caller of the session in the request's cookie, if there is one. */
  find(request: FastifyRequest): Promise<Caller | undefined> {
    return this.findBySecret(this.secretOf(request))
  }

  async findBySecret(secret: string | undefined): Promise<Caller | undefined> {
    return secret === undefined ? undefined : this.#options.keyring.find(secret, sessionKindOf(secret))
  }

  /** The caller of a request that needs a session, counted against their rate limit. */
  async require(request: FastifyRequest, reply: FastifyReply): Promise<Caller> {
    // A first visit to the console has no cookie, and does not count as a failed authentication.
    if (this.secretOf(request) === undefined)
      throw signInFirst('You are not signed in. Sign in with a company account, a passkey, a link or an API key.')
    const caller = await this.find(request)
    if (!caller) throw this.#options.refuse(request, sessionEnded())
    request.caller = caller
    const failure = takeFromRateLimit(caller, reply, this.#options.services.clock.now())
    if (failure) throw failure
    return caller
  }

  /** A session that was opened with an API key has no person of its own, even if the key is personal: a holder of the key must not gain a passkey. */
  async requirePerson(request: FastifyRequest, reply: FastifyReply): Promise<UserCaller> {
    const caller = await this.require(request, reply)
    const { user, session, key } = caller
    if (user && session && !key) return { ...caller, user, session }
    throw new Failure(
      'PERMISSION_DENIED',
      'This session was opened with an API key, which has no passkeys and sessions of its own. Sign in as a person.',
    )
  }

  /** Puts a new session into the browser. The session that the browser had ends: that of its cookie, unless another one is given. */
  async start(request: FastifyRequest, reply: FastifyReply, secret: string, previous?: Caller): Promise<Caller> {
    const { services, cookie } = this.#options
    const before = previous ?? (await this.find(request))
    if (before) await sessionEnd(services, before, originOf(request))
    const caller = await this.findBySecret(secret)
    if (!caller) throw sessionEnded()
    request.caller = caller
    reply.header('Set-Cookie', cookie.store(request, secret))
    return caller
  }

  /** Removes the session from the browser. */
  expireCookie(request: FastifyRequest, reply: FastifyReply): void {
    reply.header('Set-Cookie', this.#options.cookie.expire(request))
  }

  /** Answers with JSON that no cache stores. */
  answer(reply: FastifyReply, value: object): FastifyReply | Promise<FastifyReply> {
    return sendJson(reply.header('Cache-Control', 'no-store'), JSON.stringify(value))
  }

  /** The signed-in caller, as the console shows it. */
  async view(holder: TokenHolder): Promise<ConsoleSession> {
    const { db, settings } = this.#options.services
    const org = await findOrg(db.system, { id: holder.org.id })
    return {
      org: {
        ...{ id: holder.org.id, name: org?.name ?? '', timezone: org?.timezone ?? 'UTC' },
        createdAt: isoTime(org?.created_at ?? 0),
      },
      ...(holder.user
        ? { user: await this.#viewUser(holder, holder.user) }
        : holder.key && { key: { id: String(holder.key.id), name: holder.key.name } }),
      scopes: shownScopes((scope) => holder.permissions[scope]),
      manage: holder.permissions.manage,
      allRegions: holder.access.isEverything,
      regionIds: holder.access.regionIds ?? [],
      airLimits: org ? parseAirLimits(org.air_limits) : defaultAirLimits,
      roomFreshnessSeconds: settings.freshnessSeconds,
      ...programVersion(),
    }
  }

  async #viewUser({ org, actor }: TokenHolder, { id, role }: UserCaller['user']) {
    const row = await findUserName(this.#options.services.db.forOrg(org.key), { user: id })
    return { id: String(id), email: actor.name, ...(row?.name && { name: row.name }), role }
  }
}

// Checks each request before its operation runs, in this order: token, rate limit, organisation, path, scope. [contract 2.3]
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Operation } from '../../contract/operation.ts'
import { neededPermissions } from '../../contract/people/permissions.ts'
import { permissionDenied, sessionEnded } from '../auth/failures.ts'
import { type Caller, type Keyring, tokenFingerprint } from '../auth/keyring.ts'
import { isApiKey, sessionKindOf, type TokenKind } from '../auth/token.ts'
import { type RateLimit, TokenBuckets } from '../auth/token-bucket.ts'
import { type PersonalKeyRefusal, personalKeyIdleDays } from '../auth/token-holder.ts'
import type { Clock } from '../core/clock.ts'
import { Failure, organisationNotFound } from '../core/failure.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics/metrics.ts'
import type { DatabaseHealth } from '../db/health.ts'
import type { SessionCookie } from './browser/session-cookie.ts'
import type { SendError } from './errors.ts'
import { isUnderBase, orgInPath } from './paths.ts'

type KnownOperation = Operation & { readonly id: string }

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller, set by the access checks on every request to the API. */
    caller: Caller | undefined
    /** The requested operation, if a route matched. */
    operation: KnownOperation | undefined
    /** Start of the request in milliseconds, by the monotonic clock. */
    begunAt: number
  }
  interface FastifyContextConfig {
    /** The body of such a request may take long to arrive. */
    slow?: true
    /** A route with this mark is answered before the requests that wait in the queue. [contract 7.23] */
    urgent?: true
  }
}

interface RefuserOptions {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly authFailures: RateLimit
}

export interface GateOptions extends RefuserOptions {
  readonly keyring: Keyring
}

/** The session of the last request on a connection. */
interface SentSession {
  readonly sent: string
  /** The host and scheme that the request names. */
  readonly from: string
  readonly kind: TokenKind
  readonly fingerprint: string | Failure
}

/** Returns the caller of a request that has a valid key and is within its rate limit, otherwise the failure to answer. */
export type IdentifyCaller = (request: FastifyRequest, reply: FastifyReply) => Identified | Promise<Identified>
type Identified = Caller | Failure

/** Counts an invalid secret against the address that sent it, and returns the failure to answer. */
export type CountRefusal = (request: FastifyRequest, failure: Failure) => Failure

export function refusalCounter({ clock, log, metrics, authFailures }: RefuserOptions): CountRefusal {
  const failures = new TokenBuckets(authFailures)
  const logLines = new TokenBuckets({ rate: 1 / 60, burst: 1 })
  return (request, failure) => {
    metrics.authFailures++
    const now = clock.now()
    const { ip } = request
    if (logLines.of(ip, now).take(now)) log.warn({ requestId: request.id, ip }, 'token refused')
    const bucket = failures.of(ip, now)
    if (authFailures.rate > 0 && !bucket.take(now))
      return tooMany('failed attempts from this address', bucket.retryAfterSeconds)
    return failure
  }
}

export function callerIdentifier(
  { keyring, clock, health }: Pick<GateOptions, 'keyring' | 'clock'> & { readonly health: DatabaseHealth },
  cookie: SessionCookie,
  refuse: CountRefusal,
): IdentifyCaller {
  const fingerprints = new WeakMap<Socket, { readonly authorization: string; readonly fingerprint: string | Failure }>()
  /** Requests on one connection usually send the same header, so it is checked and hashed once. */
  const fingerprintOf = (socket: Socket, authorization: string): string | Failure => {
    const cached = fingerprints.get(socket)
    if (cached?.authorization === authorization) return cached.fingerprint
    const fingerprint = tokenFingerprint(bearerToken(authorization) ?? '', 'key') ?? refusalOf(authorization)
    fingerprints.set(socket, { authorization, fingerprint })
    return fingerprint
  }
  const sessions = new WeakMap<Socket, SentSession>()
  /** Likewise for the cookie. Its name depends on the host and the scheme, which a proxy may name. */
  const sessionIn = (request: FastifyRequest): SentSession | undefined => {
    const { raw, headers } = request
    const { cookie: sent, host, 'x-forwarded-proto': scheme, 'x-forwarded-host': forwardedHost } = headers
    const cached = sessions.get(raw.socket)
    const from = `${host} ${scheme} ${forwardedHost}`
    if (cached?.sent === sent && cached?.from === from) return cached
    const secret = cookie.read(request)
    if (secret === undefined) return undefined
    const kind = sessionKindOf(secret)
    const fingerprint = tokenFingerprint(secret, kind) ?? sessionEnded()
    const found = { sent: sent ?? '', from, kind, fingerprint }
    sessions.set(raw.socket, found)
    return found
  }
  const admit = (
    request: FastifyRequest,
    reply: FastifyReply,
    fingerprint: string,
    caller: Caller | undefined,
  ): Identified => {
    if (!caller) {
      const reason = keyring.refusalReason(fingerprint)
      return refuse(request, reason ? personalKeyRefused[reason] : refusalOf(request.headers.authorization))
    }
    const failure = takeFromRateLimit(caller, reply, clock.now())
    if (failure) return failure
    request.caller = caller
    return caller
  }
  return (request, reply) => {
    const { authorization } = request.headers
    let fingerprint: string | Failure
    let kind: TokenKind = 'key'
    // The Authorization header takes precedence over the cookie, even if it is invalid. [contract 9.cookie]
    if (authorization !== undefined) fingerprint = fingerprintOf(request.raw.socket, authorization)
    else {
      const session = sessionIn(request)
      if (session === undefined) return refuse(request, noToken)
      const problem = cookie.originProblem(request)
      if (problem) return problem
      reply.headers(sessionAnswerHeaders)
      kind = session.kind
      fingerprint = session.fingerprint
    }
    if (fingerprint instanceof Failure) return refuse(request, fingerprint)
    // During an outage of the database, cached callers and answers are not used: they may be out of date.
    if (health.outage) return health.outage
    const caller = keyring.findByFingerprint(fingerprint, kind)
    if (caller instanceof Promise) return caller.then((holder) => admit(request, reply, fingerprint, holder))
    return admit(request, reply, fingerprint, caller)
  }
}

function refusalOf(authorization: string | undefined): Failure {
  if (authorization === undefined) return sessionEnded()
  const token = bearerToken(authorization)
  return token === undefined ? noToken : badToken(token)
}

/** Finds the caller of a request again, for streams, which stay open after the checks. */
export type RecheckCaller = (request: FastifyRequest) => Caller | undefined | Promise<Caller | undefined>

export const callerRechecker =
  (keyring: Keyring, cookie: SessionCookie): RecheckCaller =>
  (request) => {
    const { authorization } = request.headers
    if (authorization !== undefined) return keyring.find(bearerToken(authorization) ?? '')
    const secret = cookie.read(request) ?? ''
    return keyring.find(secret, sessionKindOf(secret))
  }

/** Counts a request against the rate limit of the caller's key, and sets the headers that say what remains. [contract 7.5] */
export function takeFromRateLimit({ bucket }: Caller, reply: FastifyReply, now: number): Failure | undefined {
  if (!bucket) return undefined
  const admitted = bucket.take(now)
  reply.header('ratelimit-policy', bucket.policy)
  reply.header('ratelimit', `"default";r=${bucket.remaining};t=${bucket.fullIn}`)
  return admitted ? undefined : tooMany('requests with this key', bucket.retryAfterSeconds)
}

/** Caches do not store answers to requests with Authorization; answers to a cookie need these headers for that. [contract 9.cookie] */
const sessionAnswerHeaders = { 'Cache-Control': 'private, no-cache', 'X-Content-Type-Options': 'nosniff' }

/** Calls `done` if the request may go on, and answers it otherwise. */
export type AccessCheck = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void

/** Makes the check of one operation; without an operation, that of requests that no route matches. */
export type CheckAccess = (operation: KnownOperation | undefined) => AccessCheck

/** `unknown` explains to a caller why no route matches; `fail` answers a request that is refused. */
export function accessChecks(
  identify: IdentifyCaller,
  unknown: (request: FastifyRequest) => Failure,
  fail: SendError,
): CheckAccess {
  const findProblem = (request: FastifyRequest, caller: Identified): Failure | undefined => {
    if (caller instanceof Failure) return caller
    const { operation, params, url } = request
    const { orgid = orgInPath(url) } = params as { orgid?: string }
    if (orgid !== undefined && orgid !== caller.org.id) return organisationNotFound()
    return operation ? scopeProblem(operation, caller) : unknown(request)
  }
  return (operation) => (request, reply, done) => {
    request.operation = operation
    // A matched route is an operation of the API, in whichever way its path was written.
    if (!operation && !isUnderBase(request.url)) {
      fail(unknown(request), request, reply)
      return
    }
    const proceed = (failure: unknown) => {
      if (failure) fail(failure, request, reply)
      else done()
    }
    const caller = identify(request, reply)
    if (caller instanceof Promise) caller.then((identified) => proceed(findProblem(request, identified)), proceed)
    else proceed(findProblem(request, caller))
  }
}

const bearerToken = (header: string | undefined): string | undefined =>
  header?.slice(0, 7).toLowerCase() === 'bearer ' ? header.slice(7).trim() : undefined

const noToken = new Failure(
  'UNAUTHENTICATED',
  'A token is needed. Send the header "Authorization: Bearer <API key>".',
  { needsToken: true },
)

/** Made once, so that requests with guessed keys cost little. */
const [notCurrent, notAKey, ofInactiveUser, ofIdleUser] = [
  'The token is not valid: unknown, expired or revoked. Use a current API key.',
  'This key is not valid. Check that you copied all of it.',
  'This is a personal key of a user who is disabled or has no way to sign in. Ask an owner of the organisation.',
  `This personal key is paused: its user has not signed in for ${personalKeyIdleDays} days. It works again when that user has signed in to the console.`,
].map(
  (sentence) =>
    new Failure('UNAUTHENTICATED', sentence, {
      headers: { 'www-authenticate': 'Bearer realm="roomkeeper", error="invalid_token"' },
    }),
) as [Failure, Failure, Failure, Failure]

const personalKeyRefused: Readonly<Record<PersonalKeyRefusal, Failure>> = {
  'not active': ofInactiveUser,
  idle: ofIdleUser,
}

export const badToken = (token: string): Failure => (isApiKey(token) ? notCurrent : notAKey)

const tooMany = (what: string, seconds: number): Failure =>
  new Failure('RESOURCE_EXHAUSTED', `Too many ${what}. Retry after ${seconds} s, and send requests less often.`, {
    retryAfterSeconds: seconds,
  })

function scopeProblem(operation: Operation, caller: Caller): Failure | undefined {
  // A key must not make another one that outlives it, nor revoke those of its person.
  if (operation.person && (!caller.user || caller.key)) return needsPerson()
  const missing = neededPermissions(operation).find((permission) => !caller.permissions[permission])
  return missing && permissionDenied(caller, missing, operation)
}

const needsPerson = () =>
  new Failure(
    'PERMISSION_DENIED',
    'This operation is about the account of a person, and cannot be done with an API key. Sign in as a person.',
  )

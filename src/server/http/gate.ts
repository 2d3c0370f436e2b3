// The order of checks before an operation: token, rate limit, organisation, path, scope. [contract 2.3]
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Operation } from '../../contract/operation.ts'
import { type Caller, type Keyring, tokenFingerprint } from '../auth/keyring.ts'
import { isApiKey, type TokenKind } from '../auth/token.ts'
import { type RateLimit, TokenBuckets } from '../auth/token-bucket.ts'
import type { Clock } from '../core/clock.ts'
import { Failure, organisationNotFound } from '../core/failure.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import type { DatabaseHealth } from '../db/health.ts'
import type { SendError } from './errors.ts'
import { isUnderBase, orgInPath } from './paths.ts'
import { type SessionCookie, sessionEnded } from './session-cookie.ts'

type KnownOperation = Operation & { readonly id: string }

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; set by the gate on everything below a base. */
    caller: Caller | undefined
    /** What it asks for, if a route knows it. */
    operation: KnownOperation | undefined
    /** By the monotonic clock. */
    begunAt: number
  }
  interface FastifyContextConfig {
    /** Its body may take long to arrive. */
    slow?: true
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

/** The caller of a request with a valid key that lets it through its rate limit, or what is wrong. */
export type IdentifyCaller = (request: FastifyRequest, reply: FastifyReply) => Identified | Promise<Identified>
type Identified = Caller | Failure

/** Counts a secret that nobody holds against the address it came from, and gives back what to answer. */
export type CountRefusal = (request: FastifyRequest, failure: Failure) => Failure

export function refusalCounter({ clock, log, metrics, authFailures }: RefuserOptions): CountRefusal {
  const failures = new TokenBuckets(authFailures)
  const mentions = new TokenBuckets({ rate: 1 / 60, burst: 1 })
  return (request, failure) => {
    metrics.authFailures++
    const now = clock.now()
    if (mentions.of(request.ip, now).take(now)) log.warn({ requestId: request.id, ip: request.ip }, 'token refused')
    const bucket = failures.of(request.ip, now)
    if (authFailures.rate > 0 && !bucket.take(now))
      return tooMany('failed attempts from this address', bucket.retryAfter)
    return failure
  }
}

export function callerIdentifier(
  { keyring, clock, health }: Pick<GateOptions, 'keyring' | 'clock'> & { readonly health: DatabaseHealth },
  cookie: SessionCookie,
  refuse: CountRefusal,
): IdentifyCaller {
  const known = new WeakMap<Socket, { readonly authorization: string; readonly name: string | Failure }>()
  /** Whoever asks again on a connection shows the same key, or the same nonsense: it is checked and hashed once. */
  const nameIn = (socket: Socket, authorization: string): string | Failure => {
    const before = known.get(socket)
    if (before?.authorization === authorization) return before.name
    const name = tokenFingerprint(bearerToken(authorization) ?? '', 'key') ?? refusalOf(authorization)
    known.set(socket, { authorization, name })
    return name
  }
  const admit = (request: FastifyRequest, reply: FastifyReply, caller: Caller | undefined): Identified => {
    if (!caller) return refuse(request, refusalOf(request.headers.authorization))
    const failure = takeFromRateLimit(caller, reply, clock.now())
    if (failure) return failure
    request.caller = caller
    return caller
  }
  return (request, reply) => {
    const { authorization } = request.headers
    let name: string | Failure
    let kind: TokenKind = 'key'
    // Whoever sends that header means it, also when it is wrong. [contract 9.cookie]
    if (authorization !== undefined) name = nameIn(request.raw.socket, authorization)
    else {
      const session = cookie.read(request)
      if (session === undefined) return refuse(request, noToken)
      const problem = cookie.strangerProblem(request)
      if (problem) return problem
      reply.headers(ofSession)
      kind = 'session'
      name = tokenFingerprint(session, kind) ?? sessionEnded()
    }
    if (name instanceof Failure) return refuse(request, name)
    // Callers and answers that are remembered do not count while the database cannot say whether they are still right.
    if (health.outage) return health.outage
    const caller = keyring.findByFingerprint(name, kind)
    if (caller instanceof Promise) return caller.then((found) => admit(request, reply, found))
    return admit(request, reply, caller)
  }
}

function refusalOf(authorization: string | undefined): Failure {
  if (authorization === undefined) return sessionEnded()
  const token = bearerToken(authorization)
  return token === undefined ? noToken : badToken(token)
}

/** Whether the caller of a request still is one: for whoever stays connected after the checks. */
export type RecheckCaller = (request: FastifyRequest) => Caller | undefined | Promise<Caller | undefined>

export const callerRechecker =
  (keyring: Keyring, cookie: SessionCookie): RecheckCaller =>
  (request) => {
    const { authorization } = request.headers
    if (authorization !== undefined) return keyring.find(bearerToken(authorization) ?? '')
    return keyring.find(cookie.read(request) ?? '', 'session')
  }

/** Takes a request from the rate limit of the caller's key, and says what is left. [contract 7.5] */
export function takeFromRateLimit({ bucket }: Caller, reply: FastifyReply, now: number): Failure | undefined {
  if (!bucket) return undefined
  const admitted = bucket.take(now)
  reply.header('RateLimit-Policy', bucket.policy)
  reply.header('RateLimit', `"default";r=${bucket.remaining};t=${bucket.fullIn}`)
  return admitted ? undefined : tooMany('requests with this key', bucket.retryAfter)
}

/** What a request with Authorization has by itself: nobody in between keeps the answer, and a browser asks again. [contract 9.cookie] */
const ofSession = { 'Cache-Control': 'private, no-cache', 'X-Content-Type-Options': 'nosniff' }

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
  const verdict = (request: FastifyRequest, who: Identified): Failure | undefined => {
    if (who instanceof Failure) return who
    const { operation, params, url } = request
    const { orgid = orgInPath(url) } = params as { orgid?: string }
    if (orgid !== undefined && orgid !== who.org.id) return organisationNotFound()
    return operation ? missing(operation, who) : unknown(request)
  }
  return (operation) => (request, reply, done) => {
    request.operation = operation
    // What the router found is an operation, however its path was written.
    if (!operation && !isUnderBase(request.url)) {
      fail(unknown(request), request, reply)
      return
    }
    const go = (failure: unknown) => {
      if (failure) fail(failure, request, reply)
      else done()
    }
    const who = identify(request, reply)
    if (who instanceof Promise) who.then((found) => go(verdict(request, found)), go)
    else go(verdict(request, who))
  }
}

const bearerToken = (header: string | undefined): string | undefined =>
  header?.slice(0, 7).toLowerCase() === 'bearer ' ? header.slice(7).trim() : undefined

const noToken = new Failure(
  'UNAUTHENTICATED',
  'A token is needed. Send the header "Authorization: Bearer <API key>".',
  {
    headers: { 'WWW-Authenticate': 'Bearer realm="roomkeeper"' },
  },
)

/** Made once: whoever guesses should not cost us much. */
const [notCurrent, notAKey] = [
  'The token is not valid: unknown, expired or revoked. Use a current API key.',
  'The token is not an API key of this service, or has a typing error. Copy the whole key.',
].map(
  (sentence) =>
    new Failure('UNAUTHENTICATED', sentence, {
      headers: { 'WWW-Authenticate': 'Bearer realm="roomkeeper", error="invalid_token"' },
    }),
) as [Failure, Failure]

export const badToken = (token: string): Failure => (isApiKey(token) ? notCurrent : notAKey)

const tooMany = (what: string, retryAfter: number): Failure =>
  new Failure('RESOURCE_EXHAUSTED', `Too many ${what}. Wait ${retryAfter} s, then go on more slowly.`, {
    headers: { 'Retry-After': String(retryAfter) },
  })

function missing(operation: Operation, caller: Caller): Failure | undefined {
  if (!caller[operation.scope]) return permissionDenied(operation.scope, `the scope ${operation.scope}`)
  if (operation.manage && !caller.manage) return permissionDenied(`${operation.scope} manage`, 'the attribute manage')
  return undefined
}

export const permissionDenied = (scope: string, what: string): Failure =>
  new Failure('PERMISSION_DENIED', `This key lacks ${what}. Use a key that has it.`, {
    headers: { 'WWW-Authenticate': `Bearer realm="roomkeeper", error="insufficient_scope", scope="${scope}"` },
  })

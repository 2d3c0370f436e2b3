// The order of checks before an operation: token, rate limit, organisation, path, scope. [contract 2.3]
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Operation } from '../../contract/operation.ts'
import { Buckets, type Limit } from '../auth/bucket.ts'
import type { Caller, Keyring } from '../auth/keyring.ts'
import { isToken } from '../auth/token.ts'
import type { Clock } from '../clock.ts'
import { Failure, unknownOrganisation } from '../failure.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { isUnderBase, orgInPath } from './paths.ts'
import { type SessionCookie, sessionEnded } from './session-cookie.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; set by the gate on everything below a base. */
    caller: Caller | undefined
    /** What it asks for, if a route knows it. */
    operation: (Operation & { id: string }) | undefined
  }
  interface FastifyContextConfig {
    operation?: Operation & { id: string }
    /** Its body may take long to arrive. */
    slow?: true
  }
}

interface RefuserOptions {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly authFailures: Limit
}

export interface GateOptions extends RefuserOptions {
  readonly keyring: Keyring
}

const notCurrent = 'The token is not valid: unknown, expired or revoked. Use a current API key.'
const notAKey = 'The token is not an API key of this service, or has a typing error. Copy the whole key.'

type Done = (error?: Error) => void

/** The caller of a request with a valid key that lets it through its rate limit. */
export type Identify = (
  request: FastifyRequest,
  reply: FastifyReply,
  then: (caller: Caller) => void,
  fail: Done,
) => void

/** Counts a secret that nobody holds against the address it came from, and gives back what to answer. */
export type Refuse = (request: FastifyRequest, failure: Failure) => Failure

export function refuser({ clock, log, metrics, authFailures }: RefuserOptions): Refuse {
  const failures = new Buckets(authFailures)
  const mentions = new Buckets({ rate: 1 / 60, burst: 1 })
  return (request, failure) => {
    metrics.authFailures.inc()
    const now = clock.now()
    if (mentions.of(request.ip, now).take(now)) log.warn({ requestId: request.id, ip: request.ip }, 'token refused')
    const bucket = failures.of(request.ip, now)
    if (authFailures.rate > 0 && !bucket.take(now))
      return tooMany('failed attempts from this address', bucket.retryAfter)
    return failure
  }
}

export function identifier(
  { keyring, clock }: Pick<GateOptions, 'keyring' | 'clock'>,
  cookie: SessionCookie,
  refuse: Refuse,
): Identify {
  return (request, reply, then, fail) => {
    const { authorization } = request.headers
    const token = bearerToken(authorization)
    let session: string | undefined
    if (token === undefined) {
      // Whoever sends that header means it, also when it is wrong. [contract 9.cookie]
      session = authorization === undefined ? cookie.read(request) : undefined
      if (session === undefined) return fail(refuse(request, noToken()))
      const problem = cookie.strangerProblem(request)
      if (problem) return fail(problem)
      reply.headers(ofSession)
    }
    const admit = (caller: Caller | undefined) => {
      if (!caller) return fail(refuse(request, token === undefined ? sessionEnded() : badToken(token)))
      const failure = limit(caller, reply, clock.now())
      if (failure) return fail(failure)
      request.caller = caller
      then(caller)
    }
    const caller = session === undefined ? keyring.find(token as string) : keyring.find(session, 'session')
    if (caller instanceof Promise) caller.then(admit, fail)
    else admit(caller)
  }
}

/** Whether the caller of a request still is one: for whoever stays connected after the checks. */
export type AskAgain = (request: FastifyRequest) => Caller | undefined | Promise<Caller | undefined>

export const askingAgain =
  (keyring: Keyring, cookie: SessionCookie): AskAgain =>
  (request) => {
    const { authorization } = request.headers
    if (authorization !== undefined) return keyring.find(bearerToken(authorization) ?? '')
    return keyring.find(cookie.read(request) ?? '', 'session')
  }

/** Takes a request from the rate limit of the caller's key, and says what is left. [contract 7.5] */
export function limit({ bucket }: Caller, reply: FastifyReply, now: number): Failure | undefined {
  if (!bucket) return undefined
  const admitted = bucket.take(now)
  reply.header('RateLimit-Policy', bucket.policy)
  reply.header('RateLimit', `"default";r=${bucket.remaining};t=${bucket.fullIn}`)
  return admitted ? undefined : tooMany('requests with this key', bucket.retryAfter)
}

/** What a request with Authorization has by itself: nobody in between keeps the answer, and a browser asks again. [contract 9.cookie] */
const ofSession = { 'Cache-Control': 'private, no-cache', 'X-Content-Type-Options': 'nosniff' }

/** `unknown` says what is wrong with a path or method that no route knows. */
export function gate(identify: Identify, unknown: (request: FastifyRequest) => Failure) {
  return (request: FastifyRequest, reply: FastifyReply, done: Done): void => {
    const { operation } = request.routeOptions.config
    request.operation = operation
    // What the router found is an operation, however its path was written.
    if (!operation && !isUnderBase(request.url)) done(request.is404 ? unknown(request) : undefined)
    else {
      identify(
        request,
        reply,
        (caller) => {
          const { orgid = orgInPath(request.url) } = request.params as { orgid?: string }
          if (orgid !== undefined && orgid !== caller.org.id) done(unknownOrganisation())
          else done(operation ? missing(operation, caller) : unknown(request))
        },
        done,
      )
    }
  }
}

const bearerToken = (header: string | undefined): string | undefined =>
  header?.slice(0, 7).toLowerCase() === 'bearer ' ? header.slice(7).trim() : undefined

const noToken = (): Failure =>
  new Failure('UNAUTHENTICATED', 'A token is needed. Send the header "Authorization: Bearer <API key>".', {
    headers: { 'WWW-Authenticate': 'Bearer realm="roomkeeper"' },
  })

export const badToken = (token: string): Failure =>
  new Failure('UNAUTHENTICATED', isToken(token) ? notCurrent : notAKey, {
    headers: { 'WWW-Authenticate': 'Bearer realm="roomkeeper", error="invalid_token"' },
  })

const tooMany = (what: string, retryAfter: number): Failure =>
  new Failure('RESOURCE_EXHAUSTED', `Too many ${what}. Wait ${retryAfter} s, then go on more slowly.`, {
    headers: { 'Retry-After': String(retryAfter) },
  })

function missing(operation: Operation, caller: Caller): Failure | undefined {
  if (!caller[operation.scope]) return denied(operation.scope, `the scope ${operation.scope}`)
  if (operation.manage && !caller.manage) return denied(`${operation.scope} manage`, 'the attribute manage')
  return undefined
}

export const denied = (scope: string, what: string): Failure =>
  new Failure('PERMISSION_DENIED', `This key lacks ${what}. Use a key that has it.`, {
    headers: { 'WWW-Authenticate': `Bearer realm="roomkeeper", error="insufficient_scope", scope="${scope}"` },
  })

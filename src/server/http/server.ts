// The HTTP server: every operation of the table on its route, and around them what every answer needs.

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server } from 'node:http'
import compress from '@fastify/compress'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { smallBodyBytes } from '../../contract/operation.ts'
import { operationList } from '../../contract/operations.ts'
import type { Caller } from '../auth/keyring.ts'
import { maskSecrets } from '../auth/token.ts'
import { contextOf, type RequestContext } from '../context/request-context.ts'
import type { Services } from '../context/services.ts'
import { Failure, shuttingDown } from '../core/failure.ts'
import { compressionThresholdBytes, sendAnswer } from './answer.ts'
import { registerBodyParsers } from './body.ts'
import { limitBodyTime } from './body-time.ts'
import { cors } from './cors.ts'
import { sendError } from './errors.ts'
import { type EventStreams, EventSubscription } from './event-streams.ts'
import {
  accessChecks,
  type CountRefusal,
  callerIdentifier,
  callerRechecker,
  type GateOptions,
  type IdentifyCaller,
  refusalCounter,
} from './gate.ts'
import type { OperationHandlers } from './handlers.ts'
import { inputReader, type RequestInput } from './input.ts'
import { Overload } from './overload.ts'
import { isLegacy, isUnderBase, legacyHeaders, methodFinder, normalisePath, routesOf } from './paths.ts'
import { isFirstInPipeline, waitForTurn } from './pipeline.ts'
import { RequestQueue } from './request-queue.ts'
import { SessionCookie } from './session-cookie.ts'
import { answerUnreadable, hostProblem, rememberReply } from './unreadable.ts'
import { watchUnsent } from './unsent-answers.ts'

export interface HttpOptions extends GateOptions {
  readonly services: Services
  readonly handlers: OperationHandlers
  readonly streams: EventStreams
  readonly corsOrigins: readonly string[]
  readonly trustProxy: readonly string[]
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined
  /** Write a log line for reads too. */
  readonly logReads: boolean
  /** Which requests become another protocol; all others are answered as if they had not asked. */
  readonly isUpgrade: (request: IncomingMessage) => boolean
}

export interface HttpServer {
  readonly app: FastifyInstance
  readonly identify: IdentifyCaller
  readonly cookie: SessionCookie
  readonly refuse: CountRefusal
  /** New requests get 503, those under way finish; after `patience` ms they are cut off. */
  drain(patience: number): Promise<void>
  /** Waits for connections that became another protocol: whoever speaks that ends them first. */
  close(): Promise<void>
}

const maxHeaderSize = 16 * 1024
/** For a whole request. Only the logs of a device are so large that they may take this long; other bodies may not. */
const requestTimeoutMs = 600_000
/** For the head of a request, and for the first one of a new connection to begin. Node looks for late ones at the interval. */
const headTimeoutMs = 20_000
const timeoutCheckMs = 2_000
const keptRequestId = /^[A-Za-z0-9._-]{1,64}$/

export async function makeHttpServer(options: HttpOptions): Promise<HttpServer> {
  const { log, metrics, services, handlers } = options
  const server = {
    maxHeaderSize,
    headersTimeout: headTimeoutMs,
    connectionsCheckingInterval: timeoutCheckMs,
    // Checked here: Node answers in a shape of its own.
    requireHostHeader: false,
    shouldUpgradeCallback: options.isUpgrade,
  }
  const app = Fastify({
    logger: false,
    bodyLimit: smallBodyBytes,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: 72_000,
    return503OnClosing: false,
    genReqId: ({ headers }) => {
      const given = headers['x-request-id']
      return typeof given === 'string' && keptRequestId.test(given) ? given : randomUUID()
    },
    rewriteUrl: normalisePath,
    trustProxy: options.trustProxy.length > 0 ? [...options.trustProxy] : false,
    routerOptions: { maxParamLength: maxHeaderSize },
    clientErrorHandler: answerUnreadable,
    ...(options.tls ? { https: { ...options.tls, ...server } } : { http: server }),
  }) as FastifyInstance<Server>
  // Node would answer an Expect that it does not know by itself, in a shape of its own.
  app.server.on('checkExpectation', (request, response) => void app.server.emit('request', request, response))
  app.decorateRequest('caller', undefined).decorateRequest('operation', undefined).decorateRequest('begunAt', 0)
  registerBodyParsers(app)
  metrics.watchUnsent(watchUnsent(app, options.clock))
  const fail = sendError(log)
  app.setErrorHandler(fail)

  let draining = false
  let underWay = 0
  const whenIdle = Promise.withResolvers<void>()

  const cookie = new SessionCookie(services.publicUrl)
  const refuse = refusalCounter(options)
  const askAgain = callerRechecker(options.keyring, cookie)
  const identify = callerIdentifier({ ...options, health: services.db.health }, cookie, refuse)
  const methodsAt = methodFinder(operationList)
  const unknown = (request: FastifyRequest) => notFound(request, methodsAt)
  const check = accessChecks(identify, unknown, fail)
  const checkUnknown = check(undefined)
  const note = (request: FastifyRequest, reply: FastifyReply) => {
    const { operation } = request
    const took = performance.now() - request.begunAt
    metrics.request(operation?.id ?? 'none', reply.statusCode, took / 1000)
    const isWrite = request.method !== 'GET' && request.method !== 'HEAD'
    if (request.caller && (isWrite || options.logReads)) {
      log.info(
        {
          requestId: request.id,
          operation: operation?.id,
          // Somebody may have put a key there.
          path: maskSecrets(request.url.split('?')[0] ?? ''),
          status: reply.statusCode,
          ms: Math.round(took * 10) / 10,
          org: request.caller.org.id,
          key: request.caller.keyId,
          ip: request.ip,
        },
        isWrite ? 'write' : 'read',
      )
    }
  }
  const ended = (request: FastifyRequest, reply: FastifyReply) => {
    underWay--
    if (draining && underWay === 0) whenIdle.resolve()
    // A stream was noted when it began: most end because their reader goes, and how long they were open is no latency.
    const wasNoted = request.operation?.stream && reply.statusCode === 200
    if (reply.raw.writableFinished && !wasNoted) note(request, reply)
  }
  const answerCors = cors(new Set(options.corsOrigins))
  const queue = new RequestQueue()
  app.server.on('connection', () => queue.noteConnection())
  const overload = new Overload(log)
  metrics.watchCount(
    'roomkeeper_http_overload_refused_total',
    'Requests that had waited for too long.',
    () => overload.refused,
  )
  const arrive = (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
    const now = performance.now()
    request.begunAt = now
    underWay++
    reply.raw.on('close', () => ended(request, reply))
    if (queue.hasRoom(now) || request.routeOptions.config.urgent) begin(request, reply, done)
    else queue.add(now, (isLate) => reply.raw.destroyed || begin(request, reply, done, isLate))
  }
  const begin = (request: FastifyRequest, reply: FastifyReply, done: () => void, isLate = false) => {
    const { headers } = request
    reply.header('X-Request-Id', request.id)
    if (isLegacy(request.raw)) reply.headers(legacyHeaders(request.url))
    const problem = hostProblem(request.raw)
    if (problem) return fail(problem, request, reply)
    if (answerCors(request, reply)) return
    if (isLate) return overload.refuse(request, reply)
    ignoreTypeOfNothing(headers)
    if (draining && request.url !== '/livez') return fail(shuttingDown(), request, reply)
    if (hasBody(headers)) limitBodyTime(request, reply)
    if (isNowhere(request)) checkUnknown(request, reply, done)
    else done()
  }
  app.addHook('onRequest', (request, reply, done) => {
    rememberReply(reply)
    if (isFirstInPipeline(reply.raw)) arrive(request, reply, done)
    else waitForTurn(request.raw, reply.raw, () => arrive(request, reply, done))
  })
  app.setNotFoundHandler((request) => {
    throw unknown(request)
  })

  await app.register(compress, {
    threshold: compressionThresholdBytes,
    encodings: ['br', 'gzip'],
    globalDecompression: false,
  })

  for (const operation of operationList) {
    const read = inputReader(operation)
    const handle = handlers[operation.id] as (ctx: RequestContext, input: RequestInput) => unknown
    const give = (request: FastifyRequest, reply: FastifyReply, answer: unknown) => {
      if (answer instanceof EventSubscription) {
        options.streams.answer(request, reply, answer, askAgain)
        note(request, reply)
      } else sendAnswer(request, reply, operation, answer)
    }
    for (const url of routesOf(operation)) {
      app.route({
        method: operation.method,
        url,
        bodyLimit: operation.bodyLimitBytes ?? smallBodyBytes,
        onRequest: check(operation),
        // Not async: Fastify would wait for the end of the answer, and an answer that is there needs no turn.
        handler: (request, reply) => {
          const answer = handle(byOf(services, request), read(request))
          if (answer instanceof Promise)
            answer.then((found) => give(request, reply, found)).catch((error) => fail(error, request, reply))
          else give(request, reply, answer)
        },
      })
    }
  }

  return {
    app,
    identify,
    cookie,
    refuse,
    async drain(patience) {
      draining = true
      if (underWay > 0) {
        const timer = setTimeout(whenIdle.resolve, patience)
        await whenIdle.promise
        clearTimeout(timer)
      }
      app.server.closeAllConnections()
    },
    async close() {
      app.server.closeAllConnections()
      await app.close()
    },
  }
}

/** No route, or that of the console, which takes all that nobody else does. */
const isNowhere = ({ is404, params, url }: FastifyRequest): boolean =>
  is404 || ((params as { '*'?: string })['*'] !== undefined && isUnderBase(url))

/** A request without a body is accepted whatever its Content-Type says. [contract 1.7] */
function ignoreTypeOfNothing(headers: FastifyRequest['headers']): void {
  if (headers['content-type'] !== undefined && !hasBody(headers)) delete headers['content-type']
}

const hasBody = (headers: FastifyRequest['headers']): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

const byOf = (services: Services, { caller, id, ip, headers }: FastifyRequest): RequestContext =>
  contextOf(services, caller as Caller, { requestId: id, ip, ifMatch: headers['if-match'] })

function notFound(request: FastifyRequest, methodsAt: (url: string) => string[]): Failure {
  const path = request.url.split('?')[0]
  const methods = isUnderBase(request.url) ? methodsAt(request.url) : []
  if (methods.length > 0) {
    const allowed = methods.join(', ')
    return new Failure('METHOD_NOT_ALLOWED', `${path} does not know ${request.method}, only ${allowed}.`, {
      headers: { Allow: allowed },
    })
  }
  return new Failure('NOT_FOUND', `nothing is at ${path}. See /docs for every operation.`)
}

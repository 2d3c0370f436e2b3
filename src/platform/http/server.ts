// The HTTP server: every operation of the table on its route, and around them what every answer needs.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server } from 'node:http'
import compress from '@fastify/compress'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { operationList } from '../../contract/operations.ts'
import type { Caller } from '../auth/keyring.ts'
import { maskSecrets } from '../auth/token.ts'
import { type By, byKey, type Ground } from '../by.ts'
import { Failure, shuttingDown } from '../failure.ts'
import { compressedFrom, send } from './answer.ts'
import { parseBodies } from './body.ts'
import { limitBodyTime } from './body-time.ts'
import { cors } from './cors.ts'
import { sendError } from './errors.ts'
import { type EventStreams, Subscription } from './event-streams.ts'
import { askingAgain, type GateOptions, gate, type Identify, identifier, type Refuse, refuser } from './gate.ts'
import type { Handlers } from './handlers.ts'
import { type Input, inputReader } from './input.ts'
import { Overload } from './overload.ts'
import { isLegacy, isUnderBase, legacyHeaders, methodFinder, normalisePath, routesOf } from './paths.ts'
import { inTurn, isItsTurn } from './pipeline.ts'
import { RequestQueue } from './request-queue.ts'
import { SessionCookie } from './session-cookie.ts'
import { answerUnreadable, hostProblem, rememberReply } from './unreadable.ts'
import { watchUnsent } from './unsent-answers.ts'

export interface HttpOptions extends GateOptions {
  readonly ground: Ground
  readonly handlers: Handlers
  readonly streams: EventStreams
  readonly corsOrigins: readonly string[]
  readonly trustProxy: readonly string[]
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined
  /** Write a log line for reads too. */
  readonly logReads: boolean
  /** Which requests become another protocol; all others are answered as if they had not asked. */
  readonly isUpgrade: (request: IncomingMessage) => boolean
}

export interface Http {
  readonly app: FastifyInstance
  readonly identify: Identify
  readonly cookie: SessionCookie
  readonly refuse: Refuse
  /** Closes connections that take nothing. To be called every second. */
  checkUnsent(): Promise<void>
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

export async function makeHttp(options: HttpOptions): Promise<Http> {
  const { log, metrics, ground, handlers } = options
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
    bodyLimit: 1024 * 1024,
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
  parseBodies(app)
  const unsent = watchUnsent(app, options.clock)
  metrics.watchUnsent(unsent)
  const fail = sendError(log)
  app.setErrorHandler(fail)

  let draining = false
  let underWay = 0
  const whenIdle = Promise.withResolvers<void>()

  const cookie = new SessionCookie(ground.publicUrl)
  const refuse = refuser(options)
  const askAgain = askingAgain(options.keyring, cookie)
  const identify = identifier(options, cookie, refuse)
  const methodsAt = methodFinder(operationList)
  const unknown = (request: FastifyRequest) => notFound(request, methodsAt)
  const check = gate(identify, unknown, fail)
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
    if (isItsTurn(reply.raw)) arrive(request, reply, done)
    else inTurn(request.raw, reply.raw, () => arrive(request, reply, done))
  })
  app.setNotFoundHandler((request) => {
    throw unknown(request)
  })

  await app.register(compress, {
    threshold: compressedFrom,
    encodings: ['br', 'gzip'],
    globalDecompression: false,
  })

  for (const operation of operationList) {
    const read = inputReader(operation)
    const handle = handlers[operation.id] as (by: By, input: Input) => unknown
    const give = (request: FastifyRequest, reply: FastifyReply, answer: unknown) => {
      if (answer instanceof Subscription) {
        options.streams.answer(request, reply, answer, askAgain)
        note(request, reply)
      } else send(request, reply, operation, answer)
    }
    for (const url of routesOf(operation)) {
      app.route({
        method: operation.method,
        url,
        onRequest: check(operation),
        // Not async: Fastify would wait for the end of the answer, and an answer that is there needs no turn.
        handler: (request, reply) => {
          const answer = handle(byOf(ground, request), read(request))
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
    checkUnsent: () => unsent.check(),
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

const byOf = (ground: Ground, { caller, id, ip, headers }: FastifyRequest): By =>
  byKey(ground, caller as Caller, { requestId: id, ip, ifMatch: headers['if-match'] })

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

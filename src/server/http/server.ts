// Puts the HTTP server together: Fastify, hooks, access checks, the routes of all operations, and its end.
import compress from '@fastify/compress'
import type { FastifyInstance } from 'fastify'
import { operationList } from '../../contract/operations.ts'
import type { Services } from '../context/services.ts'
import { compressionThresholdBytes } from './answer.ts'
import { SessionCookie } from './browser/session-cookie.ts'
import { sendError } from './errors.ts'
import { type FastifyInstanceOptions, makeFastify } from './fastify.ts'
import {
  accessChecks,
  type CountRefusal,
  callerIdentifier,
  callerRechecker,
  type GateOptions,
  type IdentifyCaller,
  refusalCounter,
} from './gate.ts'
import { InFlightRequests } from './limits/in-flight.ts'
import { watchUnsent } from './limits/unsent-answers.ts'
import { notFoundExplainer } from './not-found.ts'
import { addOperationRoutes, type OperationRouteOptions } from './operation-routes.ts'
import { addRequestHooks } from './request-hooks.ts'
import { type RequestRecordOptions, requestRecorder } from './request-record.ts'

export interface HttpOptions
  extends GateOptions,
    FastifyInstanceOptions,
    RequestRecordOptions,
    Pick<OperationRouteOptions, 'handlers' | 'answerOnce' | 'streams'> {
  readonly services: Services
  readonly corsOrigins: readonly string[]
}

export interface HttpServer {
  readonly app: FastifyInstance
  readonly identify: IdentifyCaller
  readonly cookie: SessionCookie
  readonly refuse: CountRefusal
  /** Answers new requests with 503, waits for those in flight, and closes all connections, at the latest after the timeout. */
  drain(timeoutMs: number): Promise<void>
  /** Waits for connections that switched to another protocol: the code that serves those must end them first. */
  close(): Promise<void>
}

export async function makeHttpServer(options: HttpOptions): Promise<HttpServer> {
  const { log, metrics, services, keyring, handlers, answerOnce, streams, corsOrigins } = options
  const fail = sendError(log)
  const app = makeFastify(options, fail)
  metrics.watchUnsent(watchUnsent(app, options.clock, options.limits))

  const cookie = new SessionCookie(services.publicUrl)
  const refuse = refusalCounter(options)
  const identify = callerIdentifier({ ...options, health: services.db.health }, cookie, refuse)
  const explainNotFound = notFoundExplainer(app, operationList)
  const check = accessChecks(identify, explainNotFound, fail)

  const inFlight = new InFlightRequests()
  const record = requestRecorder(options)
  addRequestHooks(app, {
    inFlight,
    corsOrigins,
    publicUrl: services.publicUrl,
    checkUnrouted: check(undefined),
    record,
    fail,
    limits: options.limits,
    log,
    metrics,
    waitingReads: () => services.db.waitingReads,
  })
  app.setNotFoundHandler((request) => {
    throw explainNotFound(request)
  })

  await app.register(compress, {
    threshold: compressionThresholdBytes,
    encodings: ['br', 'gzip'],
    globalDecompression: false,
  })
  const recheckCaller = callerRechecker(keyring, cookie)
  addOperationRoutes(app, { services, handlers, answerOnce, streams, check, recheckCaller, record, fail })

  return {
    app,
    identify,
    cookie,
    refuse,
    async drain(timeoutMs) {
      await inFlight.drain(timeoutMs)
      app.server.closeAllConnections()
    },
    async close() {
      app.server.closeAllConnections()
      await app.close()
    },
  }
}

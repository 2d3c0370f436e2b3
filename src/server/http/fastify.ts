// Makes the Fastify instance: limits of sizes and times, request ids, TLS, and the errors that occur before a route is known.
import type { IncomingMessage, Server } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import Fastify, { type FastifyInstance } from 'fastify'
import { smallBodyBytes } from '../../contract/operation.ts'
import type { TimeLimits } from '../core/time-limits.ts'
import type { SendError } from './errors.ts'
import { registerBodyParsers } from './input/body.ts'
import { answerUnreadable } from './input/unreadable.ts'
import { normalisePath } from './paths.ts'
import { requestIdOf } from './request-id.ts'
import type { ServerCertificate } from './server-certificate.ts'

export interface FastifyInstanceOptions {
  readonly trustProxy: readonly string[]
  readonly certificate?: ServerCertificate | undefined
  readonly limits: TimeLimits
  /** True for requests that switch to another protocol. All others are answered as if they had not asked for an upgrade. */
  readonly isUpgrade: (request: IncomingMessage) => boolean
}

const maxHeaderBytes = 16 * 1024
/** Node checks the time limits of requests this often. */
const limitCheckMs = 2_000

export function makeFastify(options: FastifyInstanceOptions, fail: SendError): FastifyInstance<Server> {
  const { certificate, limits } = options
  const server = {
    maxHeaderSize: maxHeaderBytes,
    // Node applies this limit also until the first request of a new connection.
    headersTimeout: limits.requestHeadMs,
    connectionsCheckingInterval: limitCheckMs,
    // A hook checks the Host header, because Node would answer in a format of its own.
    requireHostHeader: false,
    shouldUpgradeCallback: options.isUpgrade,
  }
  const app = Fastify({
    logger: false,
    bodyLimit: smallBodyBytes,
    // For a whole request. Only the logs of a device are so large that they can take this long; limits/body-time.ts ends other bodies.
    requestTimeout: limits.bundleMs,
    keepAliveTimeout: limits.idleConnectionMs,
    return503OnClosing: false,
    genReqId: ({ headers }) => requestIdOf(headers),
    rewriteUrl: normalisePath,
    trustProxy: options.trustProxy.length > 0 ? [...options.trustProxy] : false,
    routerOptions: { maxParamLength: maxHeaderBytes },
    clientErrorHandler: (error, socket) => answerUnreadable(error, socket, limits),
    ...(certificate
      ? { https: { ...certificate.files, ...server, handshakeTimeout: limits.tlsHandshakeMs } }
      : { http: server }),
  }) as FastifyInstance<Server>
  certificate?.attach(app.server as HttpsServer)
  // Node would answer an Expect header that it does not know with a 417 in a format of its own.
  app.server.on('checkExpectation', (request, response) => void app.server.emit('request', request, response))
  app.decorateRequest('caller', undefined).decorateRequest('operation', undefined).decorateRequest('begunAt', 0)
  registerBodyParsers(app)
  app.setErrorHandler(fail)
  return app
}

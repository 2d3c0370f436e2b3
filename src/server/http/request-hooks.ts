// Begins every request: its turn on the connection, the headers of its answer, and the checks that need no route.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics/metrics.ts'
import { publicPathOf } from '../core/public-path.ts'
import type { TimeLimits } from '../core/time-limits.ts'
import { cors } from './browser/cors.ts'
import { type SendError, shuttingDown } from './errors.ts'
import type { AccessCheck } from './gate.ts'
import { forgetReply, hostProblem, rememberReply } from './input/unreadable.ts'
import { limitBodyTime } from './limits/body-time.ts'
import type { InFlightRequests } from './limits/in-flight.ts'
import { Overload } from './limits/overload.ts'
import { RequestQueue } from './limits/request-queue.ts'
import { isUnrouted } from './not-found.ts'
import { isLegacy, legacyHeaders } from './paths.ts'
import { isFirstInPipeline, PipelinedRequests } from './pipeline.ts'
import type { RecordRequest } from './request-record.ts'

export interface RequestHookOptions {
  readonly inFlight: InFlightRequests
  readonly corsOrigins: readonly string[]
  readonly publicUrl: () => string
  /** Identifies the caller of a request that no route matches, so that only callers learn which paths exist. */
  readonly checkUnrouted: AccessCheck
  readonly record: RecordRequest
  readonly fail: SendError
  readonly limits: TimeLimits
  readonly log: Log
  readonly metrics: Metrics
  /** Returns how many reads wait for a connection to the database. */
  readonly waitingReads: () => number
}

export function addRequestHooks(app: FastifyInstance, options: RequestHookOptions): void {
  const begin = requestStart(options)
  const arrive = requestArrival(app, begin, options)
  const pipelined = new PipelinedRequests()
  app.addHook('onRequest', (request, reply, done) => {
    rememberReply(reply)
    if (isFirstInPipeline(reply.raw)) arrive(request, reply, done)
    else pipelined.waitForTurn(request.raw, reply.raw, () => arrive(request, reply, done))
  })
}

/** Begins a request, or queues it under load; a request that waited for too long is refused. [contract 7.23] */
function requestArrival(
  app: FastifyInstance,
  begin: BeginRequest,
  { log, metrics, waitingReads }: RequestHookOptions,
): AccessCheck {
  const queue = new RequestQueue(waitingReads)
  app.server.on('connection', () => queue.noteConnection())
  const overload = new Overload(log)
  metrics.watchCount(
    'roomkeeper_http_overload_refused_total',
    'Requests that were refused because they had waited for more than 500 ms.',
    () => overload.refused,
  )
  const refuse: AccessCheck = (request, reply) => overload.refuse(request, reply)
  return (request, reply, done) => {
    const now = performance.now()
    request.begunAt = now
    const isFirst = request.raw.socket.bytesWritten === 0
    if (queue.hasRoom(now, isFirst) || request.routeOptions.config.urgent) begin(request, reply, done)
    else {
      queue.add(now, isFirst, (isLate) => {
        if (!hasLeft(request)) begin(request, reply, done, isLate ? refuse : undefined)
      })
    }
  }
}

/** Node ends a connection when its client has, so the answer could not be sent. */
const hasLeft = ({ raw: { socket } }: FastifyRequest): boolean => socket.destroyed || socket.readableEnded

/** `refuse` answers the request instead of its route. */
type BeginRequest = (...request: [...Parameters<AccessCheck>, refuse?: AccessCheck]) => void

function requestStart({
  inFlight,
  corsOrigins,
  publicUrl,
  checkUnrouted,
  record,
  fail,
  limits,
}: RequestHookOptions): BeginRequest {
  const answerCors = cors(new Set(corsOrigins))
  const end = (request: FastifyRequest, reply: FastifyReply) => {
    inFlight.end()
    forgetReply(reply)
    // A stream was recorded when it began: most end because the reader disconnects, and their duration is no latency.
    const isRecorded = request.operation?.stream && reply.statusCode === 200
    if (reply.raw.writableFinished && !isRecorded) record(request, reply)
  }
  return (request, reply, done, refuse) => {
    const { headers } = request
    inFlight.begin()
    reply.raw.on('close', () => end(request, reply))
    reply.header('x-request-id', request.id)
    if (refuse) return refuse(request, reply, done)
    if (isLegacy(request.raw)) reply.headers(legacyHeaders(request.url, publicPathOf(publicUrl())))
    const problem = hostProblem(request.raw)
    if (problem) return fail(problem, request, reply)
    if (answerCors(request, reply)) return
    dropTypeOfEmptyBody(headers)
    if (inFlight.isDraining && request.url !== '/livez') return fail(shuttingDown(), request, reply)
    if (hasBody(headers)) limitBodyTime(request, reply, limits)
    if (isUnrouted(request)) checkUnrouted(request, reply, done)
    else done()
  }
}

/** A request without a body is accepted whatever its Content-Type says. [contract 1.7] */
function dropTypeOfEmptyBody(headers: FastifyRequest['headers']): void {
  if (headers['content-type'] !== undefined && !hasBody(headers)) delete headers['content-type']
}

const hasBody = (headers: FastifyRequest['headers']): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

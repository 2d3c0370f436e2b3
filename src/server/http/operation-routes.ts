// Registers a route for every operation: access checks, input, handler, answer.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { takesIdempotencyKey } from '../../contract/idempotency.ts'
import { smallBodyBytes } from '../../contract/operation.ts'
import { operationList } from '../../contract/operations.ts'
import type { Caller } from '../auth/keyring.ts'
import { EventSubscription } from '../context/answers.ts'
import type { OperationHandlers } from '../context/handlers.ts'
import { contextOf, type KeyedRequest, type RequestContext } from '../context/request-context.ts'
import type { Services } from '../context/services.ts'
import { sendAnswer } from './answer.ts'
import type { SendError } from './errors.ts'
import type { EventStreams } from './event-streams.ts'
import type { CheckAccess, RecheckCaller } from './gate.ts'
import { idempotencyKeyOf, keyedRequestOf } from './input/idempotency-key.ts'
import { inputReader, type RequestInput } from './input/input.ts'
import { listAsCsv } from './list-csv.ts'
import { routesOf, shadowedMethods } from './paths.ts'
import type { RecordRequest } from './request-record.ts'

export interface OperationRouteOptions {
  readonly services: Services
  readonly handlers: OperationHandlers
  /** Runs the rule of a request with an Idempotency-Key, or returns the answer of an earlier one. [contract 7.once] */
  readonly answerOnce: (ctx: RequestContext, keyed: KeyedRequest, run: () => unknown) => Promise<unknown>
  readonly streams: EventStreams
  readonly check: CheckAccess
  readonly recheckCaller: RecheckCaller
  readonly record: RecordRequest
  readonly fail: SendError
}

type ListedOperation = (typeof operationList)[number]

export function addOperationRoutes(app: FastifyInstance, options: OperationRouteOptions): void {
  addShadowRoutes(app, options.check)
  for (const operation of operationList) {
    const handler = operationHandler(operation, options)
    for (const url of routesOf(operation)) {
      app.route({
        method: operation.method,
        url,
        bodyLimit: operation.bodyLimitBytes ?? smallBodyBytes,
        onRequest: options.check(operation),
        handler,
      })
    }
  }
}

/** Adds routes that refuse a method of a fixed path, where a path with a parameter would match instead. [contract 2.2.method] */
function addShadowRoutes(app: FastifyInstance, check: CheckAccess): void {
  const onRequest = check(undefined)
  for (const { url, method } of shadowedMethods(operationList)) {
    app.route({ method, url, onRequest, handler: () => {} })
  }
}

/** The handler is not async: Fastify would wait for the end of the answer, and an answer that is ready needs no microtask. */
function operationHandler(operation: ListedOperation, options: OperationRouteOptions) {
  const { services, answerOnce, streams, recheckCaller, record, fail } = options
  const read = inputReader(operation)
  const handle = options.handlers[operation.id] as (ctx: RequestContext, input: RequestInput) => unknown
  const send = (request: FastifyRequest, reply: FastifyReply, answer: unknown) => {
    if (answer instanceof EventSubscription) {
      const opening = streams.answer(request, reply, answer, recheckCaller)
      if (!opening) record(request, reply)
      else opening.then(() => record(request, reply)).catch((error) => fail(error, request, reply))
    } else sendAnswer(request, reply, operation, answer)
  }
  const takesKey = takesIdempotencyKey(operation)
  const { csvList } = operation
  const answerTo = (request: FastifyRequest): unknown => {
    const input = read(request)
    const key = takesKey ? idempotencyKeyOf(request) : undefined
    if (key === undefined) {
      const ctx = contextFor(services, request)
      if (!csvList || !input.csv) return handle(ctx, input)
      return listAsCsv(csvList, input.query, (query) => handle(ctx, { ...input, query }))
    }
    const keyed = keyedRequestOf(request, operation.id, key)
    const ctx = contextFor(services, request, keyed)
    return answerOnce(ctx, keyed, () => handle(ctx, input))
  }
  return (request: FastifyRequest, reply: FastifyReply): void => {
    const answer = answerTo(request)
    if (answer instanceof Promise)
      answer.then((value) => send(request, reply, value)).catch((error) => fail(error, request, reply))
    else send(request, reply, answer)
  }
}

const contextFor = (
  services: Services,
  { caller, id, ip, headers }: FastifyRequest,
  keyed?: KeyedRequest,
): RequestContext => contextOf(services, caller as Caller, { requestId: id, ip, ifMatch: headers['if-match'], keyed })

// The typed API client: has a method for every declared operation, and runs in Node and in browsers.
import type { ErrorBody } from '../contract/error.ts'
import { idempotencyKeyHeader, idempotencyReplayedHeader, takesIdempotencyKey } from '../contract/idempotency.ts'
import type { BodyOf, Operation, ParamsOf, QueryInput, ResponseOf } from '../contract/operation.ts'
import { type OperationId, type Operations, operationIds, operations } from '../contract/operations.ts'
import { EventStream, type StreamOptions } from './event-stream.ts'

/** The input of an operation: path and query parameters as fields, and the body as `body`. Times may be given in milliseconds. */
export type CallInput<K extends OperationId> = ParamsOf<Operations[K]> &
  QueryInput<Operations[K]> &
  (Operations[K] extends { optionalBody: string }
    ? { body?: BodyOf<Operations[K]> }
    : Operations[K] extends { body: unknown }
      ? { body: BodyOf<Operations[K]> }
      : Record<never, never>)

/** An operation without required input can be called without arguments. */
type Args<K extends OperationId, Options = CallOptions> =
  Record<never, never> extends CallInput<K>
    ? [input?: CallInput<K>, options?: Options]
    : [input: CallInput<K>, options?: Options]

export interface CallOptions {
  /** The ETag of an earlier response: write only if the resource still has that version. */
  readonly ifMatch?: string | undefined
  /**
   * For a POST with an audit entry: a request that was sent before with the same key is not done again, and its answer comes back. Without
   * this option each call has a new key, for a `fetch` that sends a request again.
   */
  readonly idempotencyKey?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** Asks for CSV, for operations that offer it. */
export interface CsvOptions extends CallOptions {
  readonly accept: 'text/csv'
}

export interface ApiResponse<T> {
  readonly body: T
  readonly etag: string | undefined
  readonly requestId: string | undefined
  /** The answer of an earlier request with the same Idempotency-Key. */
  readonly replayed: boolean
}

export type Client = {
  readonly [K in OperationId]: Operations[K] extends { stream: string }
    ? (...args: Args<K, StreamOptions>) => EventStream
    : CsvCall<K> & ((...args: Args<K>) => Promise<ApiResponse<ResponseBody<K>>>)
}

type CsvCall<K extends OperationId> = Operations[K] extends { csv: true }
  ? (input: CallInput<K>, options: CsvOptions) => Promise<ApiResponse<Blob>>
  : unknown

/** Parsed JSON, or a Blob for a download. */
type ResponseBody<K extends OperationId> = Operations[K] extends { download: string } ? Blob : ResponseOf<Operations[K]>

export interface ClientOptions {
  /** For example http://127.0.0.1:8080 */
  readonly baseUrl: string
  readonly org: string
  /** An API key. A browser with a console session does not need one. */
  readonly token?: string | undefined
  readonly fetch?: typeof fetch
}

/** A response other than 200. `body` is undefined if the response was not an error of this service, such as one of a proxy. */
export class ApiError extends Error {
  readonly status: number
  readonly body: ErrorBody | undefined

  constructor(status: number, body: ErrorBody | undefined, message: string) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.body = body
  }
}

export function makeClient(options: ClientOptions): Client {
  const methods = operationIds.map((id) => [
    id,
    (input: Record<string, unknown> = {}, call: AnyOptions = {}) => {
      const operation: Operation = operations[id]
      const open = () => request(options, operation, input, call)
      return operation.stream ? new EventStream(call, open) : open().then((response) => read(operation, response, call))
    },
  ])
  return Object.fromEntries(methods) as Client
}

export type AnyOptions = Partial<CsvOptions> & StreamOptions

/** Sends the request of an operation, and throws an `ApiError` for an answer other than 200. */
export async function request(
  { baseUrl, org, token, fetch: send = fetch }: ClientOptions,
  operation: Operation,
  input: Record<string, unknown>,
  { accept, ifMatch, idempotencyKey, lastEventId, signal }: AnyOptions,
): Promise<Response> {
  const response = await send(baseUrl.replace(/\/+$/, '') + pathOf(operation, org, input), {
    method: operation.method,
    headers: {
      Accept: accept ?? operation.stream ?? 'application/json',
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(operation.body && { 'Content-Type': 'application/json' }),
      ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
      ...(takesIdempotencyKey(operation) && { [idempotencyKeyHeader]: idempotencyKey ?? newKey() }),
      ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }),
    },
    ...(operation.body && { body: JSON.stringify(input.body) }),
    ...(signal && { signal }),
  })
  if (response.status !== 200) throw errorOf(response.status, await response.text())
  return response
}

/** `crypto.randomUUID` is missing in a page that was not loaded over HTTPS. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

async function read(operation: Operation, response: Response, { accept }: AnyOptions): Promise<ApiResponse<unknown>> {
  return {
    body: operation.download || accept ? await response.blob() : JSON.parse(await response.text()),
    etag: response.headers.get('etag') ?? undefined,
    requestId: response.headers.get('x-request-id') ?? undefined,
    replayed: response.headers.has(idempotencyReplayedHeader),
  }
}

export function pathOf(operation: Operation, org: string, input: Readonly<Record<string, unknown>>): string {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name) => {
    if (input[name] === undefined)
      throw new TypeError(`Missing parameter ${name} of ${operation.method} ${operation.path}`)
    return encodeURIComponent(String(input[name]))
  })
  const query = new URLSearchParams()
  for (const [name, shape] of Object.entries(operation.query ?? {})) {
    const value = input[name]
    if (value === undefined) continue
    const isTime = (shape as { format?: string }).format === 'date-time'
    for (const one of Array.isArray(value) ? value : [value]) {
      query.append(name, isTime && typeof one === 'number' ? new Date(one).toISOString() : String(one))
    }
  }
  return `/v1/orgs/${encodeURIComponent(org)}${path}${query.size > 0 ? `?${query}` : ''}`
}

function errorOf(status: number, text: string): ApiError {
  try {
    const body = JSON.parse(text) as ErrorBody
    return new ApiError(status, body, body.message)
  } catch {
    return new ApiError(status, undefined, `Server error (${status})`)
  }
}

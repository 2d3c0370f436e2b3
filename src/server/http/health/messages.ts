// The messages between the thread of the health port and the server.
import type { TimeLimits } from '../../core/time-limits.ts'

/** The thread gets this when it starts. */
export interface HealthThreadData {
  readonly port: number
  readonly host: string
  /** One BigInt64: the time of process.hrtime when the event loop of the server last turned. */
  readonly heartbeat: SharedArrayBuffer
  readonly limits: TimeLimits
}

/** A request that only the server can answer. */
export interface HealthRequest {
  readonly id: number
  readonly method: 'GET' | 'HEAD'
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly remoteAddress: string
}

export interface HealthResponse {
  readonly id: number
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type HealthThreadMessage =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'failed'; readonly code: string | undefined; readonly message: string }
  | { readonly kind: 'request'; readonly request: HealthRequest }

// Records each answered request: its latency in the metrics, and a log line for writes, or for all requests.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { maskSecrets } from '../auth/token.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics/metrics.ts'

export interface RequestRecordOptions {
  readonly log: Log
  readonly metrics: Metrics
  /** Write a log line for reads too. */
  readonly logReads: boolean
}

export type RecordRequest = (request: FastifyRequest, reply: FastifyReply) => void

export const requestRecorder =
  ({ log, metrics, logReads }: RequestRecordOptions): RecordRequest =>
  (request, reply) => {
    const { operation, caller } = request
    const tookMs = performance.now() - request.begunAt
    metrics.request(operation?.id ?? 'none', reply.statusCode, tookMs / 1000)
    const isWrite = request.method !== 'GET' && request.method !== 'HEAD'
    if (!caller || !(isWrite || logReads)) return
    log.info(
      {
        requestId: request.id,
        operation: operation?.id,
        // A caller may have put a key into the path by mistake.
        path: maskSecrets(request.url.split('?')[0] ?? ''),
        status: reply.statusCode,
        ms: Math.round(tookMs * 10) / 10,
        org: caller.org.id,
        ...(caller.user ? { user: caller.user.id } : { key: caller.key?.id }),
        ip: request.ip,
      },
      isWrite ? 'write' : 'read',
    )
  }

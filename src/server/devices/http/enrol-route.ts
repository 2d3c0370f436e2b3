// Serves the enrolment of devices: a device sends code, serial and model, and receives its credential.
import { isIPv6 } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { devicePaths, type EnrolAnswer, EnrolRequest } from '../../../contract/device/protocol.ts'
import { TokenBuckets } from '../../auth/token-bucket.ts'
import type { Clock } from '../../core/clock.ts'
import { ConcurrencyLimiter } from '../../core/concurrency-limiter.ts'
import { Failure } from '../../core/failure.ts'
import type { Log } from '../../core/log.ts'
import { sendJson } from '../../http/answer.ts'
import { bodyReader } from '../../http/input/input.ts'
import type { DeviceMetrics } from '../mqtt/metrics.ts'
import { insecureTransport } from './secure-transport.ts'

export interface EnrolRouteOptions {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: DeviceMetrics
  /** Throws PERMISSION_DENIED for a code that does not work. */
  readonly enrol: (
    request: EnrolRequest,
    from: { ip: string; requestId: string },
  ) => Promise<{ orgId: string; roomId: number; endpointId: string; credential: string }>
  readonly addresses: () => string[]
}

/** Allows ten wrong codes in a row from one network, then one every ten seconds. The answer to a wrong code is delayed. */
const wrongCodeLimit = { rate: 0.1, burst: 10 }
const wrongCodeDelayMs = 500
/** Further requests of one network wait, so that parallel guesses are no faster than sequential ones. */
const maxConcurrentPerNetwork = 5

export function enrolRoute(app: FastifyInstance, { clock, log, metrics, enrol, addresses }: EnrolRouteOptions): void {
  const failures = new TokenBuckets(wrongCodeLimit)
  const limiter = new ConcurrencyLimiter<string>({ maxRunning: maxConcurrentPerNetwork })
  const read = bodyReader(EnrolRequest, {})
  app.post(devicePaths.enrol, async (request, reply) => {
    const problem = insecureTransport(request)
    if (problem) throw problem
    const body = read(request.body) as EnrolRequest
    const network = networkOf(request.ip)
    return limiter.run(network, async () => {
      const now = clock.now()
      const bucket = failures.of(network, now)
      if (bucket.isEmpty(now)) {
        metrics.refused.inc({ reason: 'enrolment limit' })
        throw new Failure(
          'RESOURCE_EXHAUSTED',
          `Too many wrong enrolment codes from this address. Wait ${bucket.retryAfterSeconds} s, then check the code.`,
          { retryAfterSeconds: bucket.retryAfterSeconds },
        )
      }
      try {
        const { orgId, roomId, endpointId, credential } = await enrol(body, { ip: request.ip, requestId: request.id })
        const { serial, model } = body
        log.info(
          { org: orgId, endpoint: endpointId, serial, model, room: roomId, address: request.ip },
          'device enrolled',
        )
        return sendJson(reply, JSON.stringify({ endpointId, credential, connect: addresses() } satisfies EnrolAnswer))
      } catch (error) {
        if (error instanceof Failure && error.code === 'PERMISSION_DENIED') {
          bucket.take(now)
          metrics.refused.inc({ reason: 'enrolment code' })
          await sleep(wrongCodeDelayMs)
        }
        throw error
      }
    })
  })
}

/** An attacker has all addresses of an IPv6 /64 network, so they count as one. */
function networkOf(ip: string): string {
  if (!isIPv6(ip) || ip.includes('.')) return ip
  const [head = '', tail] = (ip.split('%')[0] ?? '').split('::')
  const groups = head.split(':').filter((group) => group !== '')
  const after = tail?.split(':').filter((group) => group !== '') ?? []
  const whole = [...groups, ...Array<string>(8 - groups.length - after.length).fill('0'), ...after]
  return whole
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}

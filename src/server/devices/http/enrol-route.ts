// The door for a device that wants to be managed: code, serial and model in, credential out.
import { isIPv6 } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { devicePaths, type EnrolAnswer, EnrolRequest } from '../../../contract/device.ts'
import { TokenBuckets } from '../../auth/token-bucket.ts'
import type { Clock } from '../../core/clock.ts'
import { Failure } from '../../core/failure.ts'
import { sendJson } from '../../http/answer.ts'
import { bodyReader } from '../../http/input.ts'
import type { DeviceMetrics } from '../mqtt/metrics.ts'
import { insecureTransport } from './secure-transport.ts'

export interface EnrolRouteOptions {
  readonly clock: Clock
  readonly metrics: DeviceMetrics
  /** Throws PERMISSION_DENIED for a code that does not work. */
  readonly enrol: (
    request: EnrolRequest,
    from: { ip: string; requestId: string },
  ) => Promise<Pick<EnrolAnswer, 'endpointId' | 'credential'>>
  readonly addresses: () => string[]
}

/** Ten wrong codes at once, then one every ten seconds; each wrong one is answered slowly. */
const wrongCodes = { rate: 0.1, burst: 10 }
const slowly = 500
/** Of one network; others of it wait, so that many guesses at once do not get more than one after the other. */
const mostAtOnce = 5

export function enrolRoute(app: FastifyInstance, { clock, metrics, enrol, addresses }: EnrolRouteOptions): void {
  const failures = new TokenBuckets(wrongCodes)
  const turnstile = new Turnstile(mostAtOnce)
  const read = bodyReader(EnrolRequest, {})
  app.post(devicePaths.enrol, async (request, reply) => {
    const open = insecureTransport(request)
    if (open) throw open
    const body = read(request.body) as EnrolRequest
    const network = networkOf(request.ip)
    return turnstile.pass(network, async () => {
      const now = clock.now()
      const bucket = failures.of(network, now)
      if (bucket.isEmpty(now)) {
        metrics.refused.inc({ reason: 'enrolment limit' })
        throw new Failure(
          'RESOURCE_EXHAUSTED',
          `Too many wrong enrolment codes from this address. Wait ${bucket.retryAfter} s, then check the code.`,
          { headers: { 'Retry-After': String(bucket.retryAfter) } },
        )
      }
      try {
        const identity = await enrol(body, { ip: request.ip, requestId: request.id })
        return sendJson(reply, JSON.stringify({ ...identity, connect: addresses() } satisfies EnrolAnswer))
      } catch (error) {
        if (error instanceof Failure && error.code === 'PERMISSION_DENIED') {
          bucket.take(now)
          metrics.refused.inc({ reason: 'enrolment code' })
          await sleep(slowly)
        }
        throw error
      }
    })
  })
}

/** Lets so many of each name in at once; the others wait their turn. */
class Turnstile {
  readonly #most: number
  readonly #lines = new Map<string, { inside: number; readonly waiting: (() => void)[] }>()

  constructor(most: number) {
    this.#most = most
  }

  async pass<T>(name: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(name) ?? { inside: 0, waiting: [] }
    this.#lines.set(name, line)
    if (line.inside < this.#most) line.inside++
    else await new Promise<void>((resolve) => void line.waiting.push(resolve))
    try {
      return await work()
    } finally {
      // Whoever waits takes the place over.
      const next = line.waiting.shift()
      if (next) next()
      else if (--line.inside === 0) this.#lines.delete(name)
    }
  }
}

/** An IPv6 network has more addresses than anybody could count: its first half is the name of all. */
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

// Receives the logs of devices: the body is streamed to its file and never held in memory.
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { devicePaths, maxBundleBytes } from '../../../contract/device/protocol.ts'
import { TokenBuckets } from '../../auth/token-bucket.ts'
import type { Clock } from '../../core/clock.ts'
import { Failure } from '../../core/failure.ts'
import type { TimeLimits } from '../../core/time-limits.ts'
import { sendJson } from '../../http/answer.ts'
import type { Device } from '../mqtt/handlers.ts'
import { type DeviceCheck, requireDevice } from './require-device.ts'

export interface LogUploadOptions extends DeviceCheck {
  readonly clock: Clock
  readonly limits: TimeLimits
  /** Resolves when the logs are durable. */
  readonly upload: (
    device: Device,
    operationId: string,
    token: string,
    stream: Readable,
    declaredLength: number | undefined,
  ) => Promise<void>
}

/** Limits the uploads of each device, because checking them takes time and a faulty device may send them endlessly. */
const uploadLimit = { rate: 0.1, burst: 10 }

export function logUploadRoutes(
  app: FastifyInstance,
  { identify, refuse, upload, clock, limits }: LogUploadOptions,
): void {
  const attempts = new TokenBuckets(uploadLimit)
  const receive = async (request: FastifyRequest, reply: FastifyReply) => {
    request.raw.setTimeout(limits.idleUploadMs, () => request.raw.destroy())
    const device = await requireDevice(request, { identify, refuse })
    const now = clock.now()
    const bucket = attempts.of(device.id, now)
    if (!bucket.take(now)) {
      throw new Failure('RESOURCE_EXHAUSTED', `Too many uploads. Wait ${bucket.retryAfterSeconds} s, then try again.`, {
        retryAfterSeconds: bucket.retryAfterSeconds,
      })
    }
    const { operationId, token } = request.params as { operationId: string; token: string }
    const length = request.headers['content-length']
    await upload(device, operationId, token, request.raw, length === undefined ? undefined : Number(length))
    return sendJson(reply, '{}')
  }
  // Bodies are not parsed inside this plugin.
  app.register(async (plugin) => {
    plugin.removeAllContentTypeParsers()
    plugin.addContentTypeParser('*', (_request, _body, done) => done(null))
    plugin.route({
      method: ['PUT', 'POST'],
      url: `${devicePaths.logs}/:operationId/:token`,
      config: { slow: true },
      handler: (request, reply) =>
        receive(request, reply).catch((error) => {
          discardRest(request.raw)
          throw error
        }),
    })
  })
}

/** Closing the connection immediately would reset it, and the device could lose the answer that says what is wrong. */
function discardRest(request: IncomingMessage): void {
  let remainingBytes = maxBundleBytes
  request.on('error', () => {})
  request.on('data', (bytes: Buffer) => {
    remainingBytes -= bytes.length
    if (remainingBytes < 0) request.destroy()
  })
  request.resume()
}

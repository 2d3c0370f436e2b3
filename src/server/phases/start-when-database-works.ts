// Starts the service although the disk of its database is full: until there is space, a small server answers health checks. [contract 2.5]
// A start during which the database stops answering is made again.
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { ServeOptions } from '../config/server-options.ts'
import { systemClock } from '../core/clock.ts'
import { StartupError } from '../core/failure.ts'
import type { Log } from '../core/log.ts'
import type { TimeLimits } from '../core/time-limits.ts'
import { DatabaseOutage, DiskFull, isDiskFull, retryLater } from '../db/errors.ts'
import { sendJson } from '../http/answer.ts'
import { sendError } from '../http/errors.ts'
import { makeFastify } from '../http/fastify.ts'
import { openHealthPort } from '../http/health/port.ts'
import { watchUnsent } from '../http/limits/unsent-answers.ts'
import { listen } from '../http/listen.ts'
import { loadCertificate } from '../http/server-certificate.ts'

const retryMs = 1_000
/** So many starts in a row end because the database does not answer; then a person must look. */
const maxOutages = 3

const noSpace = new DiskFull(
  'UNAVAILABLE',
  'The disk of the database is full, and the server starts when there is space. Free some space.',
  retryLater,
)

const noAnswer = new StartupError('The database does not answer. Start the server again when it does.')

/** Starts the service with these options. It must call `releasePorts` before it opens the ports of HTTP. */
type Start<T> = (options: ServeOptions, releasePorts: () => Promise<void>) => Promise<T>

/**
 * Tries the start again every second while it fails because of a full disk, and some times if the database does not answer. Returns
 * undefined if `stop` comes first.
 */
export async function startWhenDatabaseWorks<T>(
  options: ServeOptions,
  log: Log,
  { stop, limits }: { readonly stop: AbortSignal; readonly limits: TimeLimits },
  start: Start<T>,
): Promise<T | undefined> {
  let waiting: WaitingServer | undefined
  const releasePorts = async () => {
    await waiting?.close()
    waiting = undefined
  }
  const pause = () => sleep(retryMs, undefined, { signal: stop }).catch(() => {})
  let given = options
  let outages = 0
  try {
    while (!stop.aborted) {
      try {
        return await start(given, releasePorts)
      } catch (error) {
        if (error instanceof DatabaseOutage) {
          if (++outages === maxOutages) throw noAnswer
          log.warn('database did not answer during the start, starting again')
          await pause()
          continue
        }
        if (!isDiskFull(error)) throw error
      }
      if (!waiting) {
        waiting = await openWaitingServer(given, limits, log)
        // A port that the system chose stays the same.
        given = { ...given, port: waiting.port, healthPort: waiting.healthPort ?? 'off' }
        log.error({ url: waiting.url, healthPort: waiting.healthPort }, 'disk full, waiting for space to start')
      }
      await pause()
    }
    return undefined
  } finally {
    await releasePorts()
  }
}

interface WaitingServer {
  readonly url: string
  readonly port: number
  readonly healthPort: number | undefined
  close(): Promise<void>
}

/** /livez is 200, everything else a 503 with the reason. */
async function openWaitingServer(options: ServeOptions, limits: TimeLimits, log: Log): Promise<WaitingServer> {
  const certificate = loadCertificate(options, log)
  const trustProxy = options.trustProxy ?? []
  const app = makeFastify({ trustProxy, certificate, limits, isUpgrade: () => false }, sendError(log))
  watchUnsent(app, systemClock, limits)
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.url !== '/livez') throw noSpace
    reply.header('x-request-id', request.id)
  })
  app.get('/livez', (_request, reply) => void sendJson(reply, '{"ok":true}'))
  const health = await openHealthPort(app, options, limits, log)
  let stopTwin = () => {}
  const close = async () => {
    stopTwin()
    await health.close()
    await closeNow(app)
  }
  try {
    const { url, closeTwin } = await listen(app, options)
    stopTwin = closeTwin
    return { url, port: (app.server.address() as AddressInfo).port, healthPort: health.port, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function closeNow(app: FastifyInstance): Promise<void> {
  const closed = app.close()
  app.server.closeAllConnections()
  await closed
}

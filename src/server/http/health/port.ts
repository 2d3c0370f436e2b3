// Opens the health port: starts its thread, gives it a heartbeat to watch, and answers the requests that it passes on. [contract 7.24]
import { Worker } from 'node:worker_threads'
import type { FastifyInstance } from 'fastify'
import type { ServeOptions } from '../../config/server-options.ts'
import type { Log } from '../../core/log.ts'
import type { TimeLimits } from '../../core/time-limits.ts'
import { listenError } from '../listen.ts'
import type { HealthRequest, HealthResponse, HealthThreadData, HealthThreadMessage } from './messages.ts'

const heartbeatMs = 100
/** In an installed package the thread is compiled into a file of its own, beside the rest of the program. */
const threadFile = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './health-thread.js', import.meta.url)

export interface HealthPort {
  /** Undefined if the port is off. */
  readonly port: number | undefined
  close(): Promise<unknown>
}

export async function openHealthPort(
  app: FastifyInstance,
  options: ServeOptions,
  limits: TimeLimits,
  log: Log,
): Promise<HealthPort> {
  const { healthPort: port, healthHost: host } = options
  if (port === 'off') return { port: undefined, close: async () => {} }
  const heartbeat = new SharedArrayBuffer(8)
  const lastBeat = new BigInt64Array(heartbeat)
  const beat = () => void Atomics.store(lastBeat, 0, process.hrtime.bigint())
  beat()
  const timer = setInterval(beat, heartbeatMs)
  const worker = new Worker(threadFile, { workerData: { port, host, heartbeat, limits } satisfies HealthThreadData })
  let isClosed = false
  const close = () => {
    isClosed = true
    clearInterval(timer)
    return worker.terminate()
  }
  try {
    const openedPort = await new Promise<number>((resolve, reject) => {
      worker.once('error', reject)
      worker.on('message', (message: HealthThreadMessage) => {
        if (message.kind === 'listening') resolve(message.port)
        else if (message.kind === 'failed') reject(Object.assign(new Error(message.message), { code: message.code }))
        else answer(app, worker, message.request)
      })
    })
    worker.on('error', (error) => log.error({ err: error }, 'health port failed'))
    worker.once('exit', () => isClosed || log.error('health port closed'))
    return { port: openedPort, close }
  } catch (error) {
    await close()
    throw listenError(error as NodeJS.ErrnoException, { port, host }, { port: '--health-port', host: '--health-host' })
  }
}

/** The request passes the same hooks, checks and routes as one on the port of the API. */
function answer(app: FastifyInstance, worker: Worker, { id, ...request }: HealthRequest): void {
  app.inject(request).then(
    ({ statusCode, headers, body }) => {
      const { connection: _c, 'content-length': _l, 'transfer-encoding': _t, date: _d, ...rest } = headers
      const texts = Object.entries(rest).map(([name, value]) => [name, `${value}`])
      worker.postMessage({ id, status: statusCode, headers: Object.fromEntries(texts), body } satisfies HealthResponse)
    },
    // The thread answers 503 by itself when it hears nothing.
    () => {},
  )
}

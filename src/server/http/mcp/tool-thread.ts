// Starts the thread in which tools run, gives it the requests to /mcp, and sends the requests of its tools to the API.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { Failure } from '../../core/failure.ts'
import type { Log } from '../../core/log.ts'
import type { ApiAnswer, ApiPiece, ApiRequest, FromThread, McpThreadData, ToolAnswer, ToolRequest } from './messages.ts'

/** In an installed package the thread is compiled into a file of its own, beside the rest of the program. */
const threadFile = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './mcp-thread.js', import.meta.url)

/** Each can hold lists of some ten megabytes. */
const maxRunning = 16
/** The bytes that are copied for the thread in one turn of the event loop. */
const bytesPerTurn = 256 * 1024
const resourceLimits = { maxOldGenerationSizeMb: 512 }

interface SentAnswer extends Omit<ApiAnswer, 'kind' | 'number'> {
  readonly body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}
type SendToApi = (request: ApiRequest) => Promise<SentAnswer>

interface Running {
  readonly send: SendToApi
  readonly resolve: (answer: ToolAnswer) => void
  readonly reject: (failure: Failure) => void
}

export class ToolThread {
  readonly #data: McpThreadData
  readonly #log: Log
  readonly #running = new Map<number, Running>()
  #worker: Worker | undefined
  #lastId = 0

  constructor(data: McpThreadData, log: Log) {
    this.#data = data
    this.#log = log
  }

  /** `send` sends a request of a tool with the key of the caller. */
  run(request: Omit<ToolRequest, 'kind' | 'id'>, send: SendToApi): Promise<ToolAnswer> {
    if (this.#running.size >= maxRunning) throw tooMany
    const id = ++this.#lastId
    const { promise, resolve, reject } = Promise.withResolvers<ToolAnswer>()
    this.#running.set(id, { send, resolve, reject })
    this.#worker ??= this.#start()
    this.#worker.postMessage({ kind: 'request', id, ...request } satisfies ToolRequest)
    return promise.finally(() => this.#running.delete(id))
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  /** The thread starts with the first request, because most servers get none. */
  #start(): Worker {
    const worker = new Worker(threadFile, { workerData: this.#data, resourceLimits })
    worker.unref()
    worker.on('message', (message: FromThread) => {
      if (message.kind === 'answer') this.#running.get(message.id)?.resolve(message)
      else void this.#sendToApi(worker, message)
    })
    worker.on('error', (error) => this.#log.error({ err: error }, 'tools failed'))
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
      for (const { reject } of this.#running.values()) reject(ended)
    })
    return worker
  }

  async #sendToApi(worker: Worker, request: ApiRequest): Promise<void> {
    const running = this.#running.get(request.id)
    if (!running) return
    const { number } = request
    const end = (status: number, headers: ApiAnswer['headers']) =>
      worker.postMessage({ kind: 'api answer', number, status, headers } satisfies ApiAnswer)
    try {
      const { status, headers, body } = await running.send(request)
      let sentBytes = 0
      for await (const piece of body) {
        worker.postMessage({ kind: 'api piece', number, piece } satisfies ApiPiece)
        sentBytes += piece.length
        if (sentBytes < bytesPerTurn) continue
        sentBytes = 0
        await nextTurn()
      }
      end(status, headers)
    } catch (error) {
      this.#log.error({ err: error }, 'request of a tool failed')
      running.reject(ended)
      end(500, {})
    }
  }
}

const tooMany = new Failure('UNAVAILABLE', 'Too many tools run at the same time. Call the tool again in a moment.', {
  retryAfterSeconds: 1,
})
const ended = new Failure('UNAVAILABLE', 'The tool did not finish. Call it again, with fewer rooms or devices.', {
  retryAfterSeconds: 1,
})

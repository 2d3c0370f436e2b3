// Runs the tools in a thread of its own: they read lists of thousands of rooms, which would keep the server from other work. [contract 17.mcp]
import { createHmac } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { makeMcpHandler } from '../../../mcp/http-handler.ts'
import type { ApiAnswer, FromThread, McpThreadData, ToolRequest, ToThread } from './messages.ts'

const { key, version } = workerData as McpThreadData
const post = (message: FromThread) => parentPort?.postMessage(message)

const handle = makeMcpHandler({
  sign: (text) => createHmac('sha256', key).update(text).digest(),
  version,
})

interface Waiting {
  readonly pieces: Uint8Array[]
  readonly resolve: (answer: ApiAnswer) => void
}
const waiting = new Map<number, Waiting>()
let lastNumber = 0

/** The server sends the request with the key of the caller, which this thread does not know. */
const apiOf =
  (id: number): typeof fetch =>
  async (input, init = {}) => {
    const { pathname, search } = new URL(String(input))
    const number = ++lastNumber
    const { promise, resolve } = Promise.withResolvers<ApiAnswer>()
    const pieces: Uint8Array[] = []
    waiting.set(number, { pieces, resolve })
    post({
      ...{ kind: 'api request', id, number, method: init.method ?? 'GET', url: pathname + search },
      headers: (init.headers ?? {}) as Record<string, string>,
      body: typeof init.body === 'string' ? init.body : undefined,
    })
    const { status, headers } = await promise
    return new Response(Buffer.concat(pieces), { status, headers })
  }

async function answer({ id, ...request }: ToolRequest): Promise<void> {
  const response = await handle({ ...request, fetch: apiOf(id) })
  const names = ['content-type', 'allow']
  const headers = names.flatMap((name) => {
    const value = response.headers.get(name)
    return value === null ? [] : [[name, value] as const]
  })
  const body = await response.text()
  post({ kind: 'answer', id, status: response.status, headers: Object.fromEntries(headers), body })
}

parentPort?.on('message', (message: ToThread) => {
  if (message.kind === 'request') {
    // An exception would end the thread, and with it the calls of others.
    answer(message).catch(() => post({ kind: 'answer', id: message.id, status: 500, headers: {}, body: '' }))
    return
  }
  const request = waiting.get(message.number)
  if (message.kind === 'api piece') {
    request?.pieces.push(message.piece)
    return
  }
  request?.resolve(message)
  waiting.delete(message.number)
})

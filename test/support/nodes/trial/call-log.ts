// Calls nodes over HTTP and logs every call: when it began and ended, and whether it was done, refused or of unknown outcome.
import { Agent, request } from 'node:http'

/** `unknown`: the change may have been made or not. */
export type CallOutcome = 'done' | 'refused' | 'unknown'

/** Times are milliseconds of the monotonic clock of the test process. */
export interface CallRecord {
  readonly requestId: string
  readonly node: string
  readonly method: string
  readonly path: string
  readonly invokedAt: number
  readonly endedAt: number
  readonly outcome: CallOutcome
  /** Undefined if no answer came. */
  readonly status: number | undefined
}

export interface LoggedReply {
  readonly record: CallRecord
  readonly etag: string | undefined
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: the workers look into answers freely
  readonly body: any
}

interface Answer {
  readonly status: number
  readonly headers: NodeJS.Dict<string | string[]>
  readonly text: string
}

export interface CalledNode {
  readonly name: string
  readonly url: string
}

/** A call that gets no answer for so long is given up, and its outcome is unknown. */
const giveUpMs = 20_000

export class CallLog {
  readonly records: CallRecord[] = []
  readonly #org: string
  readonly #key: string
  readonly #prefix: string
  readonly #agent = new Agent({ keepAlive: true })
  #count = 0

  constructor(org: string, key: string, prefix = 'trial') {
    this.#org = org
    this.#key = key
    this.#prefix = prefix
  }

  async call(node: CalledNode, method: string, path: string, body?: unknown): Promise<LoggedReply> {
    const requestId = `${this.#prefix}-${++this.#count}`
    const invokedAt = performance.now()
    let answer: Answer | undefined
    let outcome: CallOutcome
    try {
      answer = await this.#send(node.url, method, path, requestId, body)
      outcome = outcomeOf(answer.status, answer.headers['retry-after'] !== undefined)
    } catch (error) {
      // A connection that was refused carried no request.
      outcome = (error as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? 'refused' : 'unknown'
    }
    const endedAt = performance.now()
    const record = { requestId, node: node.name, method, path, invokedAt, endedAt, outcome, status: answer?.status }
    this.records.push(record)
    const text = answer?.text ?? ''
    const isJson = String(answer?.headers['content-type']).startsWith('application/json')
    return {
      record,
      text,
      etag: answer?.headers.etag as string | undefined,
      body: isJson && text ? JSON.parse(text) : undefined,
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  #send(url: string, method: string, path: string, requestId: string, body: unknown): Promise<Answer> {
    const sent = body === undefined ? undefined : JSON.stringify(body)
    return new Promise((resolve, reject) => {
      const outgoing = request(
        `${url}/v1/orgs/${this.#org}${path}`,
        {
          method,
          agent: this.#agent,
          signal: AbortSignal.timeout(giveUpMs),
          headers: {
            authorization: `Bearer ${this.#key}`,
            'x-request-id': requestId,
            ...(sent !== undefined && {
              'content-type': 'application/json',
              'content-length': Buffer.byteLength(sent),
            }),
          },
        },
        (incoming) => {
          let text = ''
          incoming.setEncoding('utf8').on('data', (chunk) => {
            text += chunk
          })
          incoming.once('error', reject)
          incoming.once('end', () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text }))
        },
      )
      outgoing.once('error', reject)
      outgoing.end(sent)
    })
  }
}

/** A 503 with Retry-After says that nothing was changed; one without says that the outcome is unknown. */
export function outcomeOf(status: number, hasRetryAfter: boolean): CallOutcome {
  if (status < 400) return 'done'
  if (status < 500 || (status === 503 && hasRetryAfter)) return 'refused'
  return 'unknown'
}

// A receiver of webhooks: a real HTTP server on loopback that records what it gets, and answers as a test wants.
import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { createBodyServer } from '../body-server.ts'

export interface ReceivedRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely
  readonly body: any
  /** The status of the answer. */
  readonly status: number
}

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Returns undefined to let the request wait until the end of the test. */
type AnswerRequest = (request: Omit<ReceivedRequest, 'status'>) => Answer | undefined | Promise<Answer | undefined>

export class Receiver {
  readonly received: ReceivedRequest[] = []
  /** A test replaces it to let requests fail. */
  answer: AnswerRequest = () => ({ status: 204 })
  readonly #server = createBodyServer(async (request, body, response) => {
    const got = { path: request.url ?? '', headers: request.headers, text: body, body: body && JSON.parse(body) }
    const answer = await this.answer(got)
    this.received.push({ ...got, status: answer?.status ?? 0 })
    if (answer) response.writeHead(answer.status, answer.headers).end(answer.body)
  })

  /** Ends with the test. */
  static async start(): Promise<Receiver> {
    const receiver = await Receiver.listen()
    onTestFinished(() => receiver.close())
    return receiver
  }

  /** For a `beforeAll`: the file closes the receiver in `afterAll`. */
  static async listen(): Promise<Receiver> {
    const receiver = new Receiver()
    receiver.#server.listen(0, '127.0.0.1')
    await once(receiver.#server, 'listening')
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The bodies that were answered with a status of success, in the order of their arrival. */
  get accepted(): ReceivedRequest['body'][] {
    return this.received.filter(({ status }) => status >= 200 && status < 300).map(({ body }) => body)
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

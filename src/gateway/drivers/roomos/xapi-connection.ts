// A WebSocket with JSON-RPC 2.0 to one codec: questions with a time limit, and feedback. A message that breaks the protocol ends it.
import { EventEmitter } from 'node:events'
import { isIPv6 } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { WebSocket } from 'ws'
import { DriverFailure, type DriverItem } from '../../driver.ts'
import { maxAnswerBytes, maxQuestions, type RoomosLimits, rateWindow } from './limits.ts'
import { type RpcMessage, readXapiMessage } from './read-message.ts'

/** The codec answered a question with an error. */
export class XapiError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export const xapiErrors = {
  failed: 1,
  illegalValue: 2,
  /** This release or product does not have the path. */
  noSuchPath: 3,
  badParameters: 4,
  notReady: -31997,
  tooManySubscriptions: -31998,
  noPermission: -31999,
} as const

interface Events {
  feedback: [change: Readonly<Record<string, unknown>>]
  /** Emitted once, unless the driver closed the connection. */
  ended: [DriverFailure]
}

interface Question {
  readonly timer: NodeJS.Timeout
  resolve(result: unknown): void
  reject(error: Error): void
}

/** Signs in with the upgrade request. The certificate of the socket has been accepted: the password goes out with the first byte. */
export function openXapi(socket: TLSSocket, item: DriverItem, limits: RoomosLimits, signal: AbortSignal) {
  if (signal.aborted) {
    socket.destroy()
    return Promise.reject(stopped())
  }
  return new Promise<XapiConnection>((resolve, reject) => {
    const credentials = Buffer.from(`${item.username ?? ''}:${item.secret ?? ''}`).toString('base64')
    const ws = new WebSocket(`wss://${isIPv6(item.host) ? `[${item.host}]` : item.host}:${item.port}/ws`, {
      createConnection: () => socket,
      headers: { authorization: `Basic ${credentials}` },
      followRedirects: false,
      perMessageDeflate: false,
      maxPayload: maxAnswerBytes,
      autoPong: false,
    })
    const fail = (failure: DriverFailure) => {
      finish()
      reject(failure)
      ws.terminate()
      socket.destroy()
    }
    const stop = () => fail(stopped())
    const late = () =>
      fail(new DriverFailure('UNREACHABLE', 'The device accepts connections, but does not answer them in time.'))
    const timer = setTimeout(late, limits.connectMs)
    const finish = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    }
    signal.addEventListener('abort', stop)
    ws.once('unexpected-response', (_, { statusCode = 0 }) => fail(refusalOf(statusCode)))
    // The listener stays: the end of a refused upgrade is an error too.
    ws.on('error', (error) => fail(notXapi(error)))
    ws.once('open', () => {
      finish()
      ws.removeAllListeners('error')
      resolve(new XapiConnection(ws, limits, signal))
    })
  })
}

const stopped = () => new DriverFailure('UNREACHABLE', 'The attempt was stopped.')

/** The settings without which a codec does not open its WebSocket. The second one is off by default in RoomOS 9.15. */
export const switchesAtCodec =
  'Set NetworkServices HTTP Mode to HTTPS or HTTP+HTTPS, and NetworkServices Websocket to FollowHTTPService.'

function refusalOf(status: number): DriverFailure {
  if (status === 401 || status === 403) {
    return new DriverFailure(
      'REFUSED',
      `The codec refused the user or the password (${status}). Use a local user of the codec: registration to Webex disables local users unless that was ruled out, and from RoomOS 11.27 a new user first changes the passphrase on the codec's web page.`,
    )
  }
  if (status >= 300 && status < 400) {
    return new DriverFailure(
      'UNSUPPORTED',
      'The device redirects to another address. Redirects are not followed: enter the address of the codec itself.',
    )
  }
  if (status >= 500 || status === 429) {
    return new DriverFailure('UNREACHABLE', `The codec is busy or still starting (${status}).`)
  }
  return new DriverFailure(
    'UNSUPPORTED',
    `The device answers over HTTPS, but not at its WebSocket (${status}). If this is the codec, its WebSocket is off. ${switchesAtCodec}`,
  )
}

const notXapi = (error: Error & { code?: string }) =>
  error.code === 'ECONNRESET' || error.code === 'EPIPE'
    ? new DriverFailure('UNREACHABLE', 'The device closed the connection before it answered.')
    : new DriverFailure(
        'UNSUPPORTED',
        `The device answers over HTTPS, but not as a codec does. If this is the codec, its WebSocket is off. ${switchesAtCodec}`,
      )

export class XapiConnection extends EventEmitter<Events> {
  readonly #ws: WebSocket
  readonly #limits: RoomosLimits
  readonly #signal: AbortSignal
  readonly #questions = new Map<string, Question>()
  /** Questions that wait for their turn. */
  readonly #turns: (() => void)[] = []
  readonly #pingTimer: NodeJS.Timeout
  readonly #stop = () => this.close()
  #lastId = 0
  #isAlive = true
  #isOver = false
  #window = { startedMs: 0, bytes: 0 }

  constructor(ws: WebSocket, limits: RoomosLimits, signal: AbortSignal) {
    super()
    this.#ws = ws
    this.#limits = limits
    this.#signal = signal
    this.#pingTimer = setInterval(() => this.#ping(), limits.pingMs)
    signal.addEventListener('abort', this.#stop)
    ws.on('message', (data, isBinary) => this.#receive(data as Buffer, isBinary))
    ws.on('ping', (data) => {
      // A codec that sends pings and reads no pong must not fill our memory.
      if (this.#isWithinRate(data.length) && ws.bufferedAmount < maxAnswerBytes) ws.pong(data)
    })
    ws.on('pong', (data) => {
      this.#isAlive = this.#isWithinRate(data.length)
    })
    ws.on('error', (error: Error & { code?: string }) => this.#end(brokenBy(error)))
    ws.on('close', () => this.#end(new DriverFailure('UNREACHABLE', 'The codec closed the connection.')))
  }

  /** Asks a question. Rejects with an XapiError if the codec answers with one, else with the DriverFailure that ended the connection. */
  async ask(method: string, params: Readonly<Record<string, unknown>>): Promise<unknown> {
    if (this.#questions.size >= maxQuestions) await new Promise<void>((resolve) => this.#turns.push(resolve))
    return new Promise((resolve, reject) => {
      if (this.#isOver) return reject(new DriverFailure('UNREACHABLE', 'The connection to the codec has ended.'))
      const id = String(++this.#lastId)
      const seconds = this.#limits.answerMs / 1_000
      const timer = setTimeout(
        () => this.#end(new DriverFailure('UNREACHABLE', `The codec did not answer within ${seconds} s.`)),
        this.#limits.answerMs,
      )
      this.#questions.set(id, { timer, resolve, reject })
      this.#ws.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    })
  }

  /** Ends the connection without an event; open questions are rejected. */
  close(): void {
    if (this.#isOver) return
    this.removeAllListeners()
    this.#end(new DriverFailure('UNREACHABLE', 'The session was closed.'), () => this.#ws.close(1000))
  }

  /** Ends the connection with an event. */
  fail(failure: DriverFailure): void {
    this.#end(failure)
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (!this.#isWithinRate(data.length)) return
    this.#isAlive = true
    if (isBinary) return void this.#misbehaved('The codec sent binary data.')
    let message: RpcMessage
    try {
      message = readXapiMessage(data.toString())
    } catch (error) {
      return void this.#misbehaved(`The codec sent ${(error as Error).message}`)
    }
    const { id, method, params, error } = message
    if (method === 'xFeedback/Event') {
      if (typeof params === 'object' && params !== null) this.#feedback(params as Record<string, unknown>)
      return
    }
    // A notification that the driver does not know, from a later release.
    if (typeof method === 'string' && id === undefined) return
    const question = this.#questions.get(String(id))
    if (!question) return void this.#misbehaved('The codec answered a question that was not asked.')
    this.#questions.delete(String(id))
    clearTimeout(question.timer)
    if (error === undefined) question.resolve(message.result)
    else question.reject(errorOf(error))
    this.#turns.shift()?.()
  }

  /** A listener that cannot take a change, such as one with too many values, ends the connection. */
  #feedback(change: Record<string, unknown>): void {
    try {
      this.emit('feedback', change)
    } catch {
      this.#misbehaved('The codec sent more values than a codec has.')
    }
  }

  /** Counts a frame. Returns false if the connection has ended, which it does at too high a rate. */
  #isWithinRate(bytes: number): boolean {
    const now = performance.now()
    if (now - this.#window.startedMs > rateWindow.ms) this.#window = { startedMs: now, bytes: 0 }
    this.#window.bytes += bytes + rateWindow.frameBytes
    if (this.#window.bytes <= rateWindow.maxBytes) return !this.#isOver
    this.#misbehaved('The codec sent more than 4 MB in 10 seconds.')
    return false
  }

  #ping(): void {
    if (this.#isAlive) {
      this.#isAlive = false
      return void this.#ws.ping()
    }
    // After a pause of this process, the answer can be waiting to be read.
    setImmediate(() => {
      if (!this.#isAlive) this.#end(new DriverFailure('UNREACHABLE', 'The codec no longer answers.'))
    })
  }

  #misbehaved(reason: string): void {
    this.#end(new DriverFailure('UNSUPPORTED', `${reason} The session was ended.`))
  }

  #end(failure: DriverFailure, hangUp = () => this.#ws.terminate()): void {
    if (this.#isOver) return
    this.#isOver = true
    clearInterval(this.#pingTimer)
    this.#signal.removeEventListener('abort', this.#stop)
    for (const { timer, reject } of this.#questions.values()) {
      clearTimeout(timer)
      reject(failure)
    }
    this.#questions.clear()
    for (const turn of this.#turns.splice(0)) turn()
    hangUp()
    // A codec that does not take part in the closing handshake is not waited for.
    setTimeout(() => this.#ws.terminate(), 1_000).unref()
    this.emit('ended', failure)
  }
}

function errorOf(error: unknown): XapiError {
  const { code, message } = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>
  const words = typeof message === 'string' ? message.replaceAll(/\s+/g, ' ').slice(0, 150) : ''
  return new XapiError(typeof code === 'number' ? code : xapiErrors.failed, words)
}

function brokenBy({ code }: { code?: string }): DriverFailure {
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' || code === 'WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH') {
    return new DriverFailure(
      'UNSUPPORTED',
      `The codec sent a message of more than ${maxAnswerBytes / 1024} KB. The session was ended.`,
    )
  }
  if (code?.startsWith('WS_ERR')) {
    return new DriverFailure(
      'UNSUPPORTED',
      'The codec sent something that is not a WebSocket message. The session was ended.',
    )
  }
  return new DriverFailure('UNREACHABLE', 'The connection to the codec was interrupted.')
}

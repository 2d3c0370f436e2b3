// The driver of the line source. It knows nothing of the tests, so a process of its own can use it.
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { UpMessage } from '../../../src/contract/device/protocol.ts'
import { DriverFailure, type DriverSession, type SessionEvents } from '../../../src/gateway/driver.ts'
import {
  type SourceDeviceContext,
  type SourceDriver,
  type SourceEvents,
  SourceFailure,
  type SourceSession,
} from '../../../src/gateway/sources/source.ts'

interface Line {
  readonly n?: number
  readonly answer?: Record<string, unknown> | null
  readonly device?: string
  readonly event: string
  readonly value?: unknown
}

interface Failed {
  readonly state: SourceFailure['state']
  readonly message: string
  readonly retryAfterMs?: number
}

type Ask = (question: object) => Promise<Record<string, unknown> | null>

class LineSourceDeviceSession extends EventEmitter<SessionEvents> implements DriverSession {
  readonly commandsOnce = true
  readonly samplesAsMeasured = true
  readonly identity: DriverSession['identity']
  offlineBecause: string | undefined
  readonly #key: string
  readonly #status: UpMessage<'status'>
  readonly #ask: Ask
  readonly close: () => void

  constructor(key: string, device: Record<string, unknown>, ask: Ask, close: () => void) {
    super()
    this.#key = key
    this.#ask = ask
    this.close = close
    const { model, serial, status } = device as { model: string; serial?: string; status?: object }
    this.identity = { manufacturer: 'Lines', model, serial }
    this.#status = { kind: 'OTHER', ...status }
  }

  tell(event: string, value: unknown): void {
    if (event === 'presence') this.offlineBecause = value as string | undefined
    ;(this as EventEmitter).emit(event, value)
  }

  status = () => ({ ...this.#status })
  logs = async () => {
    const answer = await this.#ask({ key: this.#key, command: 'logs' })
    return `Support id ${answer?.supportId}`
  }
  reboot = () => this.#send('reboot')
  message = (text: string) => this.#send(`message ${text}`)

  async #send(command: string): Promise<void> {
    await this.#ask({ key: this.#key, command })
  }
}

class LineSourceSession extends EventEmitter<SourceEvents> implements SourceSession {
  readonly #socket: Socket
  readonly #content: object
  readonly #devices = new Map<string, LineSourceDeviceSession>()
  readonly #answers = new Map<number, (answer: Record<string, unknown> | null) => void>()
  #count = 0
  #isOver = false

  constructor(socket: Socket, content: object) {
    super()
    this.#socket = socket
    this.#content = content
    socket.on('close', () => this.#end(new SourceFailure('UNREACHABLE', 'The source closed the connection.')))
  }

  receive({ n, answer, device, event, value }: Line): void {
    if (n !== undefined) this.#answers.get(n)?.(answer ?? null)
    else if (device !== undefined) this.#devices.get(device)?.tell(event, value)
    else if (event === 'failed') this.#fail(value as Failed)
    else if (!this.#isOver) (this as EventEmitter).emit(event, value)
  }

  summary = () => ({ content: this.#content, version: 'Lines 1' })
  close = () => {
    this.#isOver = true
    this.#socket.destroy()
  }

  async openDevice(key: string, { memory }: SourceDeviceContext): Promise<DriverSession> {
    const ask: Ask = (question) => this.#ask(question)
    const device = await ask({ open: key })
    if (!device) throw new DriverFailure('UNREACHABLE', `The source has no device ${key}.`)
    const opened = ((memory.load() as { opened: number } | undefined)?.opened ?? 0) + 1
    await memory.save({ opened })
    const session = new LineSourceDeviceSession(key, device, ask, () => this.#devices.delete(key))
    this.#devices.set(key, session)
    return session
  }

  #ask(question: object): Promise<Record<string, unknown> | null> {
    const n = ++this.#count
    return new Promise((resolve) => {
      this.#answers.set(n, resolve)
      this.#socket.write(`${JSON.stringify({ ...question, n })}\n`)
    })
  }

  #fail({ state, message, retryAfterMs }: Failed): void {
    this.#end(new SourceFailure(state, message, { retryAfterMs }))
  }

  #end(failure: SourceFailure): void {
    if (this.#isOver) return
    this.#isOver = true
    this.emit('ended', failure)
  }
}

export const lineSourceDriver: SourceDriver = {
  async open({ url, key = '' }, { network, signal }) {
    const { hostname, port } = new URL(url)
    const socket = await network.connect({ host: hostname, port: Number(port), timeoutMs: 5_000, signal })
    // The line reader emits the errors of its socket a second time.
    const lines = createInterface({ input: socket }).on('error', () => {})
    socket.write(`${JSON.stringify({ login: key })}\n`)
    return new Promise((resolve, reject) => {
      let session: LineSourceSession | undefined
      lines.on('line', (line) => {
        const message = JSON.parse(line)
        // Events come in a later turn than the session, as the interface of drivers demands.
        if (session) return void setImmediate(() => session?.receive(message))
        if (message.refused === undefined) {
          session = new LineSourceSession(socket, message.content)
          return resolve(session)
        }
        socket.destroy()
        // A careless driver repeats what the source said.
        reject(new SourceFailure('REFUSED', `The source refused the key: ${message.refused}.`))
      })
      socket.once('close', () => reject(new SourceFailure('UNREACHABLE', 'The source closed the connection.')))
    })
  },
}

// Readers of the event stream at minimal cost: sockets that count the events that they receive.
import { connect, type Socket } from 'node:net'
import { makeRequest } from './http-load.ts'

const deliveryTimeoutMs = 20_000
const greeting = Buffer.from(': roomkeeper events')
const eventMarker = Buffer.from('\nevent: ')

class EventStream {
  readonly #socket: Socket
  /** The end of the previous chunk, because a marker may be split between two chunks. */
  #tail = Buffer.alloc(0)
  #isGreeted = false
  eventCount = 0
  onGreeting: () => void = () => {}
  onEvents: () => void = () => {}
  onError: (error: Error) => void = () => {}

  constructor(port: number, request: Buffer) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket.on('data', (bytes) => this.#read(bytes))
    this.#socket.on('error', (error) => this.onError(error))
    this.#socket.on('close', () => this.onError(new Error('The server closed an event stream.')))
    this.#socket.write(request)
  }

  close(): void {
    this.onError = () => {}
    this.#socket.destroy()
  }

  #read(bytes: Buffer): void {
    const all = this.#tail.length > 0 ? Buffer.concat([this.#tail, bytes]) : bytes
    if (!this.#isGreeted) {
      if (!all.includes(greeting)) {
        this.#tail = Buffer.from(all)
        return
      }
      this.#isGreeted = true
      this.onGreeting()
    }
    const countBefore = this.eventCount
    let end = 0
    for (let at = all.indexOf(eventMarker); at !== -1; at = all.indexOf(eventMarker, end)) {
      this.eventCount++
      end = at + eventMarker.length
    }
    this.#tail = Buffer.from(all.subarray(Math.max(end, all.length - eventMarker.length + 1)))
    if (this.eventCount > countBefore) this.onEvents()
  }
}

export class EventStreamClients {
  readonly #streams: readonly EventStream[]
  #error: Error | undefined

  private constructor(streams: readonly EventStream[]) {
    this.#streams = streams
  }

  /** Resolves when every stream has received the greeting: from then on it receives every event. */
  static async open(url: string, path: string, key: string, count: number): Promise<EventStreamClients> {
    const request = makeRequest('GET', path, { key, headers: { Accept: 'text/event-stream' } })
    const streams = Array.from({ length: count }, () => new EventStream(Number(new URL(url).port), request))
    await Promise.all(
      streams.map(
        (stream) =>
          new Promise<void>((resolve, reject) => {
            stream.onGreeting = resolve
            stream.onError = reject
          }),
      ),
    )
    const all = new EventStreamClients(streams)
    for (const stream of streams) {
      stream.onError = (error) => {
        all.#error = error
        stream.onEvents()
      }
    }
    return all
  }

  /** Waits until every stream has received `expected` events since it was opened. One more is an error. */
  waitForEvents(expected: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`Not every event stream received ${expected} events in time.`)),
        deliveryTimeoutMs,
      )
      const check = () => {
        const counts = this.#streams.map((stream) => stream.eventCount)
        const [min, max] = [Math.min(...counts), Math.max(...counts)]
        if (!this.#error && max <= expected && min < expected) return
        clearTimeout(timer)
        if (this.#error) reject(this.#error)
        else if (max > expected) reject(new Error(`An event stream received ${max} events instead of ${expected}.`))
        else resolve()
      }
      for (const stream of this.#streams) stream.onEvents = check
      check()
    })
  }

  /** Events that every stream has received since it was opened. */
  get eventCount(): number {
    return Math.min(...this.#streams.map((stream) => stream.eventCount))
  }

  close(): void {
    for (const stream of this.#streams) stream.close()
  }
}

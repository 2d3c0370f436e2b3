// The UDP socket that net-snmp gets: it talks to one address only, and an answer that breaks the parser does not end the process.
import { createSocket } from 'node:dgram'

/** A request has at most three answers (version 3: engine, clock, values), each of which can arrive twice. */
const maxDatagramsPerRequest = 16

type SendDone = (error: Error | null, sentBytes?: number) => void

/** To be given to net-snmp as its `dgramModule`. `onBroken` gets the error of bytes that cannot be parsed, and of a closed port. */
export class GuardedUdp {
  readonly #address: string
  readonly #port: number
  readonly #onBroken: (error: Error) => void
  #parse = (_bytes: Buffer): void => {}
  #received = 0

  constructor(address: string, port: number, onBroken: (error: Error) => void) {
    this.#address = address
    this.#port = port
    this.#onBroken = onBroken
  }

  get hasReceived(): boolean {
    return this.#received > 0
  }

  /** Starts to count the datagrams of the next request. */
  expectAnswer(): void {
    this.#received = 0
  }

  /** Returns the members of a socket that net-snmp calls. */
  createSocket(transport: 'udp4' | 'udp6') {
    const socket = createSocket(transport)
    socket.on('message', (bytes) => this.#take(bytes)).on('error', this.#onBroken)
    // The system drops datagrams of other senders for a connected socket, and reports a closed port as an error.
    const connected = new Promise<void>((resolve, reject) => {
      const done = (error?: Error) => (error ? reject(error) : resolve())
      socket.connect(this.#port, this.#address, done)
    })
    // Each request that waits for it gets the error.
    connected.catch(() => {})
    return {
      on: (event: string, listener: (bytes: Buffer) => void) => {
        if (event === 'message') this.#parse = listener
        if (event === 'close') socket.once('close', listener)
      },
      send: (bytes: Buffer, _offset: number, _length: number, _port: number, _address: string, done: SendDone) =>
        void connected.then(() => socket.send(bytes, done)).catch(done),
      ref: () => socket.ref(),
      unref: () => socket.unref(),
      close: () => socket.close(),
    }
  }

  #take(bytes: Buffer): void {
    this.#received++
    try {
      if (this.#received > maxDatagramsPerRequest) throw new Error('too many answers to one question')
      this.#parse(bytes)
    } catch (error) {
      this.#onBroken(error as Error)
    }
  }
}

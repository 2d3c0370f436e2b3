// Readers of an event stream made as cheap as possible: sockets that count the events that they are sent.
import { connect, type Socket } from 'node:net'
import { requestOf } from './http-load.ts'

const patience = 20_000
const hello = Buffer.from(': roomkeeper events')
const mark = Buffer.from('\nevent: ')

class Follower {
  readonly #socket: Socket
  /** The end of what was read last: a mark may come in two pieces. */
  #tail = Buffer.alloc(0)
  #isGreeted = false
  events = 0
  onGreeting: () => void = () => {}
  onEvents: () => void = () => {}
  onTrouble: (error: Error) => void = () => {}

  constructor(port: number, request: Buffer) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket.on('data', (bytes) => this.#read(bytes))
    this.#socket.on('error', (error) => this.onTrouble(error))
    this.#socket.on('close', () => this.onTrouble(new Error('the server ended a stream')))
    this.#socket.write(request)
  }

  close(): void {
    this.onTrouble = () => {}
    this.#socket.destroy()
  }

  #read(bytes: Buffer): void {
    const all = this.#tail.length > 0 ? Buffer.concat([this.#tail, bytes]) : bytes
    if (!this.#isGreeted) {
      if (!all.includes(hello)) {
        this.#tail = Buffer.from(all)
        return
      }
      this.#isGreeted = true
      this.onGreeting()
    }
    const before = this.events
    let end = 0
    for (let at = all.indexOf(mark); at !== -1; at = all.indexOf(mark, end)) {
      this.events++
      end = at + mark.length
    }
    this.#tail = Buffer.from(all.subarray(Math.max(end, all.length - mark.length + 1)))
    if (this.events > before) this.onEvents()
  }
}

export class Followers {
  readonly #all: readonly Follower[]
  #trouble: Error | undefined

  private constructor(all: readonly Follower[]) {
    this.#all = all
  }

  /** Resolved when every one of them is greeted: from then on nothing is missed. */
  static async connect(url: string, path: string, key: string, count: number): Promise<Followers> {
    const request = requestOf('GET', path, { key, headers: { Accept: 'text/event-stream' } })
    const all = Array.from({ length: count }, () => new Follower(Number(new URL(url).port), request))
    await Promise.all(
      all.map(
        (follower) =>
          new Promise<void>((resolve, reject) => {
            follower.onGreeting = resolve
            follower.onTrouble = reject
          }),
      ),
    )
    const followers = new Followers(all)
    for (const follower of all) {
      follower.onTrouble = (error) => {
        followers.#trouble = error
        follower.onEvents()
      }
    }
    return followers
  }

  /** Waits until everybody was sent so many events since they came, and not one more. */
  until(events: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`not all of ${events} events came`)), patience)
      const look = () => {
        const [least, most] = [Math.min(...this.#counts()), Math.max(...this.#counts())]
        if (!this.#trouble && most <= events && least < events) return
        clearTimeout(timer)
        if (this.#trouble) reject(this.#trouble)
        else if (most > events) reject(new Error(`${most} events came instead of ${events}`))
        else resolve()
      }
      for (const follower of this.#all) follower.onEvents = look
      look()
    })
  }

  #counts = (): number[] => this.#all.map((follower) => follower.events)

  close(): void {
    for (const follower of this.#all) follower.close()
  }
}

// A TCP proxy in front of PostgreSQL that cuts, swallows or delays what passes, for all sessions or for those of one kind.
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { withoutNotifications } from './drop-notifications.ts'
import { applicationNameOf } from './startup-packet.ts'

export interface SessionInfo {
  /** From the startup packet. */
  readonly applicationName: string
  /** True from its first LISTEN on. */
  readonly isListening: boolean
}

export type SessionFilter = (session: SessionInfo) => boolean

/** `toServer` is what the client sends, `toClient` what PostgreSQL answers. */
export type Direction = 'both' | 'toServer' | 'toClient'

export const everySession: SessionFilter = () => true
/** The session over which a node hears the messages of others. */
export const messageSession: SessionFilter = ({ isListening }) => isListening

interface Fault {
  readonly kind: 'cut' | 'swallow' | 'delay' | 'dropNotifications'
  readonly filter: SessionFilter
  readonly direction: Direction
  readonly delayMs: number
}

/** One direction of a session. Bytes arrive in order, also when they are delayed or held back. */
class Lane {
  readonly #from: Socket
  readonly #to: Socket
  dropsNotifications = false
  #isSwallowed = false
  #delayMs = 0
  #held: Buffer[] = []
  /** Chunks on their way, the oldest first, with the time at which each arrives. */
  readonly #delayed: { readonly bytes: Buffer; readonly at: number }[] = []
  #timer: NodeJS.Timeout | undefined
  #hasEnded = false

  constructor(from: Socket, to: Socket) {
    this.#from = from
    this.#to = to
    from.on('data', (bytes) => this.pass(this.dropsNotifications ? withoutNotifications(bytes) : bytes))
    to.on('drain', () => !this.#isSwallowed && from.resume())
  }

  pass(bytes: Buffer): void {
    if (this.#isSwallowed) this.#held.push(bytes)
    else if (this.#delayMs > 0 || this.#delayed.length > 0) {
      this.#delayed.push({ bytes, at: performance.now() + this.#delayMs })
      this.#scheduleDelayed()
    } else this.#write(bytes)
  }

  set(isSwallowed: boolean, delayMs: number): void {
    this.#delayMs = delayMs
    this.#isSwallowed = isSwallowed
    if (isSwallowed) return void this.#from.pause()
    // TCP would send these bytes again, so they arrive late and are not lost.
    for (const bytes of this.#held.splice(0)) this.pass(bytes)
    this.#from.resume()
    if (this.#hasEnded) this.#to.destroy()
  }

  /** The sender has closed its socket. A network that swallows packets does not tell the receiver. */
  end(): void {
    this.#hasEnded = true
    if (!this.#isSwallowed && this.#delayed.length === 0) this.#to.destroy()
  }

  #write(bytes: Buffer): void {
    if (this.#to.destroyed) return
    if (!this.#to.write(bytes)) this.#from.pause()
  }

  #scheduleDelayed(): void {
    if (this.#timer) return
    const next = this.#delayed[0]
    if (!next) return
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        this.#delayed.shift()
        if (this.#isSwallowed) this.#held.push(next.bytes)
        else this.#write(next.bytes)
        this.#scheduleDelayed()
        if (this.#hasEnded && this.#delayed.length === 0 && !this.#isSwallowed) this.#to.destroy()
      },
      Math.max(0, next.at - performance.now()),
    )
  }
}

class ProxiedSession implements SessionInfo {
  readonly applicationName: string
  isListening = false
  readonly near: Socket
  readonly far: Socket
  readonly #toServer: Lane
  readonly #toClient: Lane

  constructor(applicationName: string, near: Socket, far: Socket, first: Buffer, faults: () => readonly Fault[]) {
    this.applicationName = applicationName
    this.near = near
    this.far = far
    this.#toServer = new Lane(near, far)
    this.#toClient = new Lane(far, near)
    this.apply(faults())
    this.#toServer.pass(first)
    const inspect = (bytes: Buffer) => {
      if (this.isListening || !bytes.includes('LISTEN ')) return
      this.isListening = true
      this.apply(faults())
    }
    inspect(first)
    near.on('data', inspect)
    far.on('error', () => {})
    near.once('close', () => this.#toServer.end())
    far.once('close', () => this.#toClient.end())
  }

  apply(faults: readonly Fault[]): void {
    const mine = faults.filter(({ filter }) => filter(this))
    if (mine.some(({ kind }) => kind === 'cut')) return void this.reset()
    this.#toClient.dropsNotifications = mine.some(({ kind }) => kind === 'dropNotifications')
    for (const [direction, lane] of [
      ['toServer', this.#toServer],
      ['toClient', this.#toClient],
    ] as const) {
      const here = mine.filter((fault) => fault.direction === 'both' || fault.direction === direction)
      const delayMs = Math.max(0, ...here.map((fault) => fault.delayMs))
      lane.set(
        here.some(({ kind }) => kind === 'swallow'),
        delayMs,
      )
    }
  }

  /** Ends both connections with RST, as a router that lost its state would. */
  reset(): void {
    this.near.resetAndDestroy()
    this.far.resetAndDestroy()
  }

  destroy(): void {
    this.near.destroy()
    this.far.destroy()
  }
}

export class FaultProxy {
  readonly #server: Server
  readonly #sessions = new Set<ProxiedSession>()
  /** Sockets whose startup packet has not arrived completely. */
  readonly #starting = new Set<Socket>()
  #faults: Fault[] = []
  #targetPort: number

  private constructor(targetPort: number) {
    this.#targetPort = targetPort
    this.#server = createServer((near) => this.#accept(near))
  }

  static async start(targetPort: number): Promise<FaultProxy> {
    const proxy = new FaultProxy(targetPort)
    proxy.#server.listen(0, '127.0.0.1')
    await new Promise((resolve) => proxy.#server.once('listening', resolve))
    return proxy
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** The address of a database, with this proxy in between. */
  urlOf(databaseUrl: string): string {
    const url = new URL(databaseUrl)
    url.port = String(this.port)
    return url.href
  }

  /** The open sessions. */
  get sessions(): readonly SessionInfo[] {
    return [...this.#sessions].filter(({ near }) => !near.destroyed)
  }

  /** New sessions go to another server. Open ones stay where they are. */
  setTarget(port: number): void {
    this.#targetPort = port
  }

  /** Ends the sessions with RST, and lets new ones through. */
  reset(filter: SessionFilter = everySession): void {
    for (const session of this.#sessions) if (filter(session)) session.reset()
  }

  /** Ends the sessions with RST, and every new one too, until `mend`. */
  cut(filter: SessionFilter = everySession): void {
    this.#add({ kind: 'cut', filter, direction: 'both', delayMs: 0 })
  }

  /** Nothing passes any more and neither side is told, until `mend`. */
  swallow(filter: SessionFilter = everySession, direction: Direction = 'both'): void {
    this.#add({ kind: 'swallow', filter, direction, delayMs: 0 })
  }

  delay(delayMs: number, filter: SessionFilter = everySession, direction: Direction = 'both'): void {
    this.#add({ kind: 'delay', filter, direction, delayMs })
  }

  /** Statements are answered, but no notification reaches the client, until `mend`. */
  dropNotifications(): void {
    this.#add({ kind: 'dropNotifications', filter: everySession, direction: 'toClient', delayMs: 0 })
  }

  /** Ends all faults. Bytes that were held back arrive now. */
  mend(): void {
    this.#faults = []
    for (const session of this.#sessions) session.apply(this.#faults)
  }

  async close(): Promise<void> {
    for (const session of this.#sessions) session.destroy()
    for (const socket of this.#starting) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #add(fault: Fault): void {
    this.#faults.push(fault)
    for (const session of this.#sessions) session.apply(this.#faults)
  }

  #accept(near: Socket): void {
    this.#starting.add(near)
    near.setNoDelay(true)
    near.on('error', () => {})
    near.once('close', () => this.#starting.delete(near))
    let received = Buffer.alloc(0)
    const read = (bytes: Buffer) => {
      received = Buffer.concat([received, bytes])
      const name = applicationNameOf(received)
      if (name === undefined) return
      near.off('data', read)
      this.#starting.delete(near)
      this.#open(name, near, received)
    }
    near.on('data', read)
  }

  #open(applicationName: string, near: Socket, first: Buffer): void {
    const far = connect({ port: this.#targetPort, host: '127.0.0.1', noDelay: true })
    const session = new ProxiedSession(applicationName, near, far, first, () => this.#faults)
    this.#sessions.add(session)
    const forget = () => near.destroyed && far.destroyed && this.#sessions.delete(session)
    near.once('close', forget)
    far.once('close', forget)
  }
}

// A small device for tests of the gateway, and its driver: JSON in lines over TCP, a password, a serial and an uptime.
import { EventEmitter, once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import type { UpMessage } from '../../../src/contract/device/protocol.ts'
import {
  type DeviceIdentity,
  type Driver,
  DriverFailure,
  type DriverSession,
  type SessionEvents,
} from '../../../src/gateway/driver.ts'

export class LineDevice {
  password = 'correct horse'
  serial: string | undefined
  model = 'Line 1'
  /** False for a device that does not tell its uptime. */
  hasUptime = true
  /** False for a device that accepts a reboot, and does nothing. */
  obeys = true
  startedAtMs = Date.now() - 3_600_000
  logins = 0
  reboots = 0
  messages: string[] = []
  power = 'ON'
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined
  port = 0

  constructor(serial?: string) {
    this.serial = serial
  }

  static async start(serial?: string): Promise<LineDevice> {
    const device = new LineDevice(serial)
    await device.plugIn()
    onTestFinished(() => device.unplug())
    return device
  }

  get sessions(): number {
    return this.#sockets.size
  }

  async plugIn(): Promise<void> {
    this.#server = createServer((socket) => this.#accept(socket)).listen(this.port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.port = (this.#server.address() as AddressInfo).port
  }

  unplug(): void {
    this.#server?.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Ends its sessions, and counts its uptime anew. */
  restart(): void {
    this.startedAtMs = Date.now()
    for (const socket of this.#sockets) socket.destroy()
  }

  tell(change: object): void {
    for (const socket of this.#sockets) socket.write(`${JSON.stringify({ change })}\n`)
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket))
    const answer = (value: object) => socket.write(`${JSON.stringify(value)}\n`)
    createInterface({ input: socket }).on('line', (line) => {
      const { login, reboot, message, power } = JSON.parse(line)
      if (login !== undefined) {
        this.logins++
        if (login !== this.password) return answer({ refused: `wrong password ${login}` })
        const uptime = this.hasUptime ? { uptimeMs: Date.now() - this.startedAtMs } : {}
        return answer({ serial: this.serial, model: this.model, power: this.power, ...uptime })
      }
      if (message !== undefined) this.messages.push(message)
      if (power !== undefined) {
        this.power = power
        this.tell({ power })
      }
      if (reboot !== undefined) this.reboots++
      answer({ done: true })
      if (reboot !== undefined && this.obeys) setTimeout(() => this.restart(), 20)
    })
  }
}

interface Greeting {
  readonly refused?: string
  readonly serial?: string
  readonly model: string
  readonly power: string
  readonly uptimeMs?: number
}

class LineSession extends EventEmitter<SessionEvents> implements DriverSession {
  readonly identity: DeviceIdentity
  readonly #socket: Socket
  readonly #status: UpMessage<'status'>
  readonly #answers: ((value: unknown) => void)[] = []

  constructor(socket: Socket, greeting: Greeting) {
    super()
    this.#socket = socket
    const { serial, model, power, uptimeMs } = greeting
    this.identity = { manufacturer: 'Lines', model, serial, firmwareVersion: '1.0' }
    const startedAt = uptimeMs === undefined ? {} : { startedAt: new Date(Date.now() - uptimeMs).toISOString() }
    this.#status = { kind: 'OTHER', power, ...startedAt }
    socket.on('close', () => this.emit('ended', new DriverFailure('UNREACHABLE', 'The device closed the connection.')))
  }

  receive(line: { change?: UpMessage<'status'> }): void {
    if (!line.change) this.#answers.shift()?.(line)
    Object.assign(this.#status, line.change)
    if (line.change) this.emit('status', line.change)
  }

  status = () => ({ ...this.#status })
  reboot = () => this.#ask({ reboot: true })
  message = (text: string) => this.#ask({ message: text })
  power = (on: boolean) => this.#ask({ power: on ? 'ON' : 'STANDBY' })
  close = () => void this.#socket.destroy()

  async #ask(question: object): Promise<void> {
    const answered = new Promise((resolve) => this.#answers.push(resolve))
    this.#socket.write(`${JSON.stringify(question)}\n`)
    await Promise.race([answered, once(this, 'ended')])
  }
}

/** A driver as others are: everything goes through the network of the context. */
export const lineDriver: Driver = {
  async open({ host, port, secret }, { network, signal }) {
    const socket = await network.connect({ host, port, timeoutMs: 5_000, signal })
    const lines = createInterface({ input: socket })
    socket.write(`${JSON.stringify({ login: secret ?? '' })}\n`)
    const greeting = await new Promise<Greeting>((resolve, reject) => {
      lines.once('line', (line) => resolve(JSON.parse(line)))
      socket.once('close', () => reject(new DriverFailure('UNREACHABLE', 'The device closed the connection.')))
    })
    if (greeting.refused !== undefined) {
      socket.destroy()
      // A careless driver repeats what the device said.
      throw new DriverFailure('REFUSED', `The device refused the password: ${greeting.refused}.`)
    }
    const session = new LineSession(socket, greeting)
    lines.on('line', (line) => session.receive(JSON.parse(line)))
    return session
  },
}

// A small device for tests of the gateway: JSON in lines over TCP, a password, a serial and an uptime.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

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

  measure(sample: object): void {
    for (const socket of this.#sockets) socket.write(`${JSON.stringify({ sample })}\n`)
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket))
    const answer = (value: object) => socket.write(`${JSON.stringify(value)}\n`)
    const lines = createInterface({ input: socket }).on('error', () => {})
    lines.on('line', (line) => {
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

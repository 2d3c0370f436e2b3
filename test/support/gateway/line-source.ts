// A small source for tests of the gateway: JSON in lines over TCP, a key, devices and commands.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

export interface LineSourceDevice {
  readonly key: string
  readonly model: string
  readonly serial?: string
  readonly status?: object
}

export class LineSource {
  key = 'planted-source-key'
  readonly devices = new Map<string, LineSourceDevice>()
  logins = 0
  /** Devices that were opened, by key. */
  readonly opened = new Map<string, number>()
  /** The commands that arrived. */
  readonly commands: { readonly key: string; readonly command: string }[] = []
  /** False for a source that takes a command, and does not say what became of it. */
  answersCommands = true
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined
  port = 0

  static async start(...devices: LineSourceDevice[]): Promise<LineSource> {
    const source = new LineSource()
    for (const device of devices) source.devices.set(device.key, device)
    await source.plugIn()
    onTestFinished(() => source.unplug())
    return source
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
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

  /** Makes the driver emit an event. */
  emit(event: string, value: unknown): void {
    for (const socket of this.#sockets) send(socket, { event, value })
  }

  /** Names all devices, and says that the list is complete. */
  list(): void {
    this.emit('found', this.#found())
    this.emit('listed', [...this.devices.keys()])
  }

  /** An event of one device: `status`, `sample`, or `presence` with a reason. */
  tell(key: string, event: string, value: unknown): void {
    for (const socket of this.#sockets) send(socket, { device: key, event, value })
  }

  /** The session ends with a failure, as a source that answers with nonsense makes it end. */
  fail(failure: { readonly state: string; readonly message: string; readonly retryAfterMs?: number }): void {
    this.emit('failed', failure)
  }

  #found() {
    return [...this.devices.values()].map(({ status, ...device }) => device)
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket))
    const lines = createInterface({ input: socket }).on('error', () => {})
    lines.on('line', (line) => this.#answer(socket, JSON.parse(line)))
  }

  #answer(socket: Socket, { login, open, command, key, n }: Record<string, string>): void {
    if (login !== undefined) {
      this.logins++
      if (login !== this.key) send(socket, { refused: `wrong key ${login}` })
      else this.#welcome(socket)
    } else if (open !== undefined) {
      this.opened.set(open, (this.opened.get(open) ?? 0) + 1)
      send(socket, { n, answer: this.devices.get(open) ?? null })
    } else if (key !== undefined && command !== undefined) {
      this.commands.push({ key, command })
      if (this.answersCommands) send(socket, { n, answer: { supportId: 'S-4711' } })
    }
  }

  #welcome(socket: Socket): void {
    send(socket, { content: { devices: this.devices.size } })
    send(socket, { event: 'found', value: this.#found() })
    send(socket, { event: 'listed', value: [...this.devices.keys()] })
  }
}

const send = (socket: Socket, value: object): void => void socket.write(`${JSON.stringify(value)}\n`)

// The driver of the line device. It knows nothing of the tests, so a process of its own can use it.
import { EventEmitter, once } from 'node:events'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { DeviceSample, UpMessage } from '../../../src/contract/device/protocol.ts'
import {
  type DeviceIdentity,
  type Driver,
  DriverFailure,
  type DriverSession,
  type SessionEvents,
} from '../../../src/gateway/driver.ts'

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

  receive(line: { change?: UpMessage<'status'>; sample?: DeviceSample }): void {
    if (line.sample) this.emit('sample', line.sample)
    else if (!line.change) this.#answers.shift()?.(line)
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
    // The line reader emits the errors of its socket a second time.
    const lines = createInterface({ input: socket }).on('error', () => {})
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

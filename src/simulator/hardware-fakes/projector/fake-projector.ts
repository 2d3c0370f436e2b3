// A fake projector: speaks PJLink class 1 and 2 over TCP, warms up, cools down, and has the quirks of real ones as switches.
import { createHash, randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ProjectorQuirks } from './quirks.ts'

export interface FakeProjectorOptions {
  readonly pjlinkClass?: 1 | 2
  readonly password?: string
  readonly manufacturer?: string
  readonly model?: string
  readonly information?: string
  readonly serial?: string
  readonly software?: string
  /** Names by code, such as `31`. */
  readonly inputs?: Readonly<Record<string, string>>
  readonly warmUpMs?: number
  readonly coolDownMs?: number
  readonly quirks?: ProjectorQuirks
}

const usual = {
  pjlinkClass: 2,
  password: '',
  manufacturer: 'Lumen',
  model: 'LX-400',
  information: 'Main hall',
  serial: 'LX400-00017',
  software: '1.08',
  inputs: { 11: 'Computer', 31: 'HDMI 1', 32: 'HDMI 2' },
  warmUpMs: 30_000,
  coolDownMs: 60_000,
  quirks: {},
} as const satisfies FakeProjectorOptions

const oddCharacters = '<>;?:='
const usualIdleCloseMs = 30_000
/** The second half of an answer comes this much later. */
const halfDelayMs = 2

/** The power as POWR says it: standby, on, cooling, warm-up. */
type Powr = '0' | '1' | '2' | '3'

interface Connection {
  readonly stream: Duplex
  readonly random: string | undefined
  /** Set when the client has asked for SHA-256. */
  random256?: string
  received: string
  isSilent: boolean
  /** How many commands it has answered, with the ones that it withheld. */
  commands: number
  lastAnswer: string
  /** The answer that a lagging projector owes. */
  owed?: string
  idle?: NodeJS.Timeout
}

export class FakeProjector {
  name = 'Hall projector'
  /** Empty means that it asks for none. */
  password: string
  powr: Powr = '0'
  input = '31'
  /** AVMT: 30 nothing, 11 the picture, 21 the sound, 31 both. */
  mute = '30'
  /** ERST: fan, lamp, temperature, cover, filter, other. */
  errors = '000000'
  lamps: { hours: number; isLit: boolean }[] = [{ hours: 1_200, isLit: true }]
  filterHours = 310
  /** Commands that it answers with ERR4: it has failed. */
  failing: readonly string[] = []
  resolution = '1920x1080'
  /** All commands in the order in which they came, without digests. */
  readonly commands: string[] = []
  totalConnections = 0
  /** Commands with a digest of another password. */
  wrongDigests = 0
  readonly #options: Required<FakeProjectorOptions>
  readonly #connections = new Set<Connection>()
  readonly #timers = new Set<NodeJS.Timeout>()
  #server: Server | undefined
  #port = 0
  #isHung = false
  #isGone = false
  #silentUntil = 0
  #lastAnswerAt = Number.NEGATIVE_INFINITY
  #refusals: number

  constructor(options: FakeProjectorOptions = {}) {
    this.#options = { ...usual, ...options }
    this.password = this.#quirks.webPassword ?? this.#options.password
    this.#refusals = this.#options.quirks.refusesGoodConnections ?? 0
  }

  get #quirks(): ProjectorQuirks {
    return this.#options.quirks
  }

  get openConnections(): number {
    return this.#connections.size
  }

  /** Whether it hangs until `cutPower`. */
  get isHung(): boolean {
    return this.#isHung
  }

  /** Listens on loopback and returns the port: a free one at first, later the one before. */
  async listen(port = this.#port): Promise<number> {
    const server = createServer({ noDelay: true }, (socket) => this.attend(socket))
    server.on('error', () => {})
    this.#server = server
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', resolve)
    })
    this.#port = (server.address() as { port: number }).port
    return this.#port
  }

  /** Ends all connections and takes no new ones. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
    await this.#shutPort()
  }

  async #shutPort(): Promise<void> {
    for (const { stream } of this.#connections) stream.destroy()
    const server = this.#server
    this.#server = undefined
    if (server) await new Promise((resolve) => server.close(resolve))
  }

  /** A person uses the remote control. */
  async press(on: boolean): Promise<void> {
    this.#isGone = false
    if (on && !this.#server && this.#port !== 0) await this.listen()
    this.#switch(on)
  }

  /** A person pulls the plug and puts it back. */
  cutPower(): void {
    this.#isHung = false
    this.#lastAnswerAt = Number.NEGATIVE_INFINITY
    this.powr = '0'
    for (const { stream } of this.#connections) stream.destroy()
  }

  #later(ms: number, action: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      action()
    }, ms)
    timer.unref()
    this.#timers.add(timer)
    return timer
  }

  #switch(on: boolean): void {
    if ((this.powr === '1') === on) return
    this.#silentUntil = performance.now() + (this.#quirks.silentAfterPowerMs ?? 0)
    this.powr = on ? '3' : '2'
    const { warmUpMs, coolDownMs } = this.#options
    this.#later(on ? warmUpMs : coolDownMs, () => {
      this.powr = on ? '1' : '0'
      if (on) return
      if (this.#quirks.onAgainAfterCooling) return void this.#switch(true)
      if (this.#quirks.leavesInStandby === 'port') void this.#shutPort()
      if (this.#quirks.leavesInStandby === 'host') {
        this.#isGone = true
        for (const connection of this.#connections) connection.isSilent = true
      }
    })
  }

  /** Serves one connection; a test can use any stream. */
  attend(stream: Duplex): void {
    this.totalConnections++
    stream.on('error', () => {})
    if (this.#quirks.oneConnection && this.#connections.size > 0) return void stream.destroy()
    const random = this.password === '' ? undefined : this.#random()
    const isSilent = this.#isGone || this.#isHung || performance.now() < this.#silentUntil
    const connection: Connection = { stream, random, received: '', isSilent, commands: 0, lastAnswer: '' }
    this.#connections.add(connection)
    stream.once('close', () => {
      clearTimeout(connection.idle)
      this.#connections.delete(connection)
    })
    // A client that has closed its side is gone: a projector does not serve half-open connections.
    stream.once('end', () => stream.destroy())
    stream.on('data', (chunk: Buffer) => this.#receive(connection, chunk))
    if (!isSilent) this.#send(connection, random === undefined ? 'PJLINK 0' : `PJLINK 1 ${random}`)
  }

  #random(): string {
    const bytes = randomBytes(8)
    if (this.#quirks.oddRandom) return [...bytes].map((byte) => oddCharacters[byte % oddCharacters.length]).join('')
    return bytes.toString('hex').slice(0, 8)
  }

  #receive(connection: Connection, chunk: Buffer): void {
    connection.received += chunk.toString('latin1')
    for (let end = connection.received.indexOf('\r'); end >= 0; end = connection.received.indexOf('\r')) {
      const line = connection.received.slice(0, end)
      connection.received = connection.received.slice(end + 1)
      if (!connection.isSilent) this.#handle(connection, line)
    }
  }

  #handle(connection: Connection, line: string): void {
    if (line === 'PJLINK 2' && connection.random !== undefined) return void this.#challenge256(connection)
    const start = line.indexOf('%')
    const command = line.slice(Math.max(start, 0))
    connection.commands++
    if (!this.#isAllowed(connection, line.slice(0, Math.max(start, 0)))) {
      this.wrongDigests++
      return void this.#refuse(connection)
    }
    if (connection.commands === 2 && this.#refusals > 0) {
      this.#refusals--
      return void this.#refuse(connection)
    }
    if (performance.now() - this.#lastAnswerAt < (this.#quirks.hangsWithinMs ?? 0)) this.#isHung = true
    if (this.#isHung || performance.now() < this.#silentUntil) return
    this.commands.push(command)
    const [, pjlinkClass, name = '', parameter = ''] = /^%([12])([A-Z0-9]{4}) (.*)$/.exec(command) ?? []
    if (pjlinkClass === undefined) return
    const answer = `%${pjlinkClass}${name}=${this.#answer(Number(pjlinkClass), name, parameter)}`
    const { lagsFrom = Number.POSITIVE_INFINITY } = this.#quirks
    if (connection.commands < lagsFrom) return void this.#send(connection, answer)
    const { owed } = connection
    connection.owed = answer
    if (owed !== undefined) this.#send(connection, owed)
  }

  #challenge256(connection: Connection): void {
    const reaction = this.#quirks.sha256 ?? 'answered'
    if (reaction === 'closes') return void connection.stream.destroy()
    if (reaction === 'erra') return void this.#refuse(connection)
    if (reaction === 'silent') {
      connection.isSilent = true
      return
    }
    connection.random256 = randomBytes(16).toString('hex')
    this.#send(connection, `PJLINK 2 ${connection.random256}`)
  }

  #isAllowed(connection: Connection, prefix: string): boolean {
    if (connection.random === undefined) return true
    if (connection.commands > 1) {
      if (prefix === '') return this.#quirks.digest !== 'every'
      if (this.#quirks.digest === 'first') return false
    }
    if (connection.random256 === undefined) {
      return prefix === createHash('md5').update(`${connection.random}${this.password}`).digest('hex')
    }
    const own = Buffer.from(prefix.slice(0, 32), 'hex')
    const theirs = Buffer.from(connection.random256, 'hex')
    if (own.length !== theirs.length) return false
    const mixed = Buffer.from(theirs.map((byte, i) => byte ^ (own[i] as number))).toString('hex')
    return prefix.slice(32) === createHash('sha256').update(`${mixed}${this.password}`).digest('hex')
  }

  #refuse(connection: Connection): void {
    this.#send(connection, 'PJLINK ERRA')
    connection.isSilent = true
    this.#later(2 * halfDelayMs, () => connection.stream.end())
  }

  #answer(pjlinkClass: number, name: string, parameter: string): string {
    const { pjlinkClass: ownClass, inputs } = this.#options
    const quirks = this.#quirks
    const notNow = quirks.err2ForErr3 ? 'ERR2' : 'ERR3'
    if (pjlinkClass > ownClass || (pjlinkClass === 2 && quirks.lacksInClass2?.includes(name))) return 'ERR1'
    if (this.failing.includes(name)) return 'ERR4'
    if (parameter.startsWith('?')) {
      if (this.powr === '0' && quirks.notInStandby?.includes(name)) return notNow
      const value = this.#read(pjlinkClass, name, parameter.slice(1))
      return value ?? 'ERR1'
    }
    if (name === 'POWR') {
      if (parameter !== '0' && parameter !== '1') return 'ERR2'
      if (this.powr === '2' || this.powr === '3') return notNow
      this.#switch(parameter === '1')
      return 'OK'
    }
    if (name === 'INPT' || name === 'AVMT') {
      if (this.powr !== '1') return notNow
      const known = name === 'INPT' ? Object.keys(inputs) : ['10', '11', '20', '21', '30', '31']
      if (!known.includes(parameter)) return 'ERR2'
      if (name === 'INPT') this.input = parameter
      else if (quirks.onlyFullMute && !parameter.startsWith('3')) return 'ERR2'
      else this.mute = parameter.endsWith('0') ? '30' : parameter
      return 'OK'
    }
    return 'ERR1'
  }

  #read(pjlinkClass: number, name: string, parameter: string): string | undefined {
    const quirks = this.#quirks
    const { pjlinkClass: ownClass, manufacturer, model, information, serial, software, inputs } = this.#options
    const shownPowr = { '0': '0', '1': '1', '2': '0', '3': '1' } as const
    const lamps = this.lamps.map(({ hours, isLit }) => `${hours} ${isLit && this.powr === '1' ? 1 : 0}`).join(' ')
    const values: Record<string, string | undefined> = {
      POWR: quirks.neverChanging ? shownPowr[this.powr] : this.powr,
      INPT: quirks.longInput ?? this.input,
      INST: Object.keys(inputs).join(' '),
      AVMT: quirks.onlyFullMute && this.mute !== '30' ? '31' : this.mute,
      ERST: quirks.noErrors ? '000000' : this.errors,
      LAMP: quirks.noLamp ? undefined : lamps,
      NAME: this.name,
      INF1: manufacturer,
      INF2: model,
      INFO: quirks.emptyInformation ? '' : information,
      CLSS: String(ownClass),
    }
    if (pjlinkClass === 1) return values[name]
    const values2: Record<string, string | undefined> = {
      INPT: values.INPT,
      INST: values.INST,
      INNM: inputs[parameter] ?? 'ERR2',
      SNUM: serial,
      SVER: software,
      IRES: this.powr === '1' ? this.resolution : '-',
      RRES: '1920x1200',
      FILT: String(this.filterHours),
      RLMP: 'LX-LAMP',
      RFIL: 'LX-FILTER',
      FREZ: '0',
    }
    return values2[name]
  }

  #send(connection: Connection, line: string): void {
    const { framing = [], latin1, idleCloseMs = usualIdleCloseMs } = this.#quirks
    let text = line
    if (framing.includes('lowerCase'))
      text = text.replace(/^(?:%.....=|PJLINK)|ERR\w$|OK$/g, (word) => word.toLowerCase())
    if (framing.includes('pairs') && connection.lastAnswer) text = `${connection.lastAnswer}\r${text}`
    if (line.startsWith('%')) connection.lastAnswer = line
    if (framing.includes('nul')) text = `\0${text}\0`
    const bytes = Buffer.from(`${text}${framing.includes('crLf') ? '\r\n' : '\r'}`, latin1 ? 'latin1' : 'utf8')
    if (framing.includes('halves')) {
      const middle = Math.ceil(bytes.length / 2)
      connection.stream.write(bytes.subarray(0, middle))
      this.#later(halfDelayMs, () => connection.stream.writable && connection.stream.write(bytes.subarray(middle)))
    } else connection.stream.write(bytes)
    if (line.startsWith('%')) this.#lastAnswerAt = performance.now()
    clearTimeout(connection.idle)
    connection.idle = setTimeout(() => connection.stream.destroy(), idleCloseMs).unref()
  }
}

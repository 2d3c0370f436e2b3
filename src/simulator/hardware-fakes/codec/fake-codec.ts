// A codec for tests and the demo: a WebSocket server with the xAPI of a chosen RoomOS release and product, as far as drivers use it.
import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createHttpsServer, Server as HttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { makeSelfSigned, type SelfSigned } from '../self-signed.ts'
import {
  type CodecSwitches,
  dribble,
  jsonBomb,
  sendEndlessMessage,
  sendGigabyte,
  textFrame,
  wellBehaved,
  wideBomb,
} from './misbehaviour.ts'
import { type FakeProductName, fakeProducts, firstValues, softwareVersions } from './products.ts'
import { type Release, type XapiEntry, xapiTable } from './xapi-table.ts'
import { entryOf, isAllowed, isBelow, partOf, type Query, treeOf, type Value, type ValueKind } from './xapi-values.ts'

export interface FakeCodecOptions {
  readonly release?: Release
  readonly product?: FakeProductName
  readonly serial?: string
  readonly username?: string
  readonly password?: string
  /** 0 chooses a free port. */
  readonly port?: number
  readonly host?: string
  /** The certificate of an earlier run; a new one if absent. */
  readonly certificate?: SelfSigned
  /** Without TLS, as no codec is; for tests of the protocol alone. */
  readonly isPlain?: boolean
  readonly switches?: Partial<CodecSwitches>
}

interface Request {
  readonly id?: unknown
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

interface Session {
  readonly ws: WebSocket
  readonly socket: Duplex
  /** `/ws?legacy` sends every value as text. */
  readonly isLegacy: boolean
  readonly subscriptions: Map<number, Query>
  nextId: number
  /** The connection carries an answer that does not end, so no other one can follow. */
  isOccupied: boolean
}

class XapiFailure extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

const maxWrongPasswords = 5
const maxRequestsKept = 1_000

export class FakeCodec {
  readonly release: Release
  readonly product: FakeProductName
  readonly switches: CodecSwitches
  /** The latest requests, oldest first. */
  readonly requests: Request[] = []
  /** The message on the screen. */
  alert: { readonly text: string; readonly seconds: number } | undefined
  /** Upgrades with a right or a wrong password. */
  readonly signIns = { right: 0, wrong: 0 }
  restarts = 0

  readonly #options: FakeCodecOptions
  readonly #values = { Status: new Map<string, Value>(), Configuration: new Map<string, Value>() }
  readonly #sessions = new Set<Session>()
  readonly #sockets = new Set<Duplex>()
  readonly #upgrades = new WebSocketServer({ noServer: true, handleProtocols: ([first]) => first ?? false })
  #certificate: SelfSigned | undefined
  #server: Server | HttpsServer | undefined
  #startedMs = Date.now() - 3_600_000
  #isLocked = false

  constructor(options: FakeCodecOptions = {}) {
    this.#options = options
    this.release = options.release ?? '26.4'
    this.product = options.product ?? 'Room Kit Pro'
    this.switches = { ...wellBehaved, ...options.switches }
    for (const [kind, path, value] of firstValues(this.product, options.serial ?? 'FOC2600R004')) {
      if (this.has(kind, path)) this.set(kind, path, value)
    }
    const { version, displayName } = softwareVersions[this.release]
    this.set('Status', 'SystemUnit Software Version', version)
    this.set('Status', 'SystemUnit Software DisplayName', displayName)
  }

  static async start(options: FakeCodecOptions = {}): Promise<FakeCodec> {
    const codec = new FakeCodec(options)
    await codec.listen(options.port ?? 0)
    return codec
  }

  get port(): number {
    return (this.#server?.address() as AddressInfo | undefined)?.port ?? 0
  }

  /** SHA-256 of its certificate, as Node writes it. */
  get fingerprint(): string {
    return this.#certificate?.fingerprint ?? ''
  }

  get connectionCount(): number {
    return this.#sessions.size
  }

  /** Whether its release and product have a path. */
  has(kind: XapiEntry['kind'], path: string): boolean {
    const lacks: readonly string[] = fakeProducts[this.product].lacks
    const isLacking = lacks.some((lacking) => lacking === path || lacking === path.replaceAll(/\[\d+\]/g, '[n]'))
    return !isLacking && entryOf(this.release, kind, path) !== undefined
  }

  get(kind: ValueKind, path: string): Value | undefined {
    return this.#allValues(kind).get(path)
  }

  /** Changes a value as a person in the room would, and tells the subscribers. Throws if this release does not have it. */
  set(kind: ValueKind, path: string, value: Value): void {
    this.#tell(kind, path, [this.#store(kind, path, value)])
  }

  /** Changes values of one item of a list, such as `Diagnostics Message[3]`, and tells the subscribers in one message, as a codec does. */
  setItem(kind: ValueKind, item: string, values: Readonly<Record<string, Value>>): void {
    const changes = Object.entries(values).map(([name, value]) => this.#store(kind, `${item} ${name}`, value))
    this.#tell(kind, item, changes)
  }

  #store(kind: ValueKind, path: string, value: Value): [path: string, value: Value] {
    const entry = entryOf(this.release, kind, path)
    if (!entry || !this.has(kind, path)) throw new Error(`RoomOS ${this.release} has no ${kind} ${path}.`)
    if (!isAllowed(entry, value)) throw new Error(`RoomOS ${this.release}: ${path} cannot be ${value}.`)
    const stored = entry.integer ? Number(value) : value
    this.#values[kind].set(path, stored)
    return [path, stored]
  }

  /** Removes an item of a list, such as `Diagnostics Message[3]`. */
  remove(kind: ValueKind, item: string): void {
    for (const path of this.#values[kind].keys()) if (path.startsWith(`${item} `)) this.#values[kind].delete(path)
    this.#tell(kind, item, [[item, { ghost: 'True' }]])
  }

  changeCertificate(): void {
    this.#certificate = makeSelfSigned({ commonName: 'Codec', lifetimeDays: 365 })
    if (this.#server instanceof HttpsServer) this.#server.setSecureContext(this.#certificate)
  }

  /** Another person unlocks the account. */
  unlock(): void {
    this.#isLocked = false
    this.signIns.wrong = 0
  }

  /** Closes all connections, and starts with an uptime of 0. */
  restart(): void {
    this.restarts++
    this.#startedMs = Date.now()
    this.dropConnections()
  }

  /** Reads nothing more and stays open, as if the network dropped every packet. */
  freeze(): void {
    for (const { socket } of this.#sessions) socket.pause()
  }

  dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async listen(port: number): Promise<void> {
    const options = this.#options
    if (!options.isPlain)
      this.#certificate = options.certificate ?? makeSelfSigned({ commonName: 'Codec', lifetimeDays: 365 })
    const notFound = (_: IncomingMessage, response: { writeHead(status: number): { end(): void } }) =>
      response.writeHead(404).end()
    const server = this.#certificate ? createHttpsServer(this.#certificate, notFound) : createHttpServer(notFound)
    this.#server = server
    server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => this.#sockets.delete(socket))
    })
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.#upgrade(request, socket, head),
    )
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, options.host ?? '127.0.0.1', resolve)
    })
  }

  async stop(): Promise<void> {
    this.dropConnections()
    await new Promise((resolve) => (this.#server ? this.#server.close(resolve) : resolve(undefined)))
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => {})
    const { redirectsTo, upgradeStatus, dribbles, dribbleMs } = this.switches
    const refuse = (status: string, headers = '') =>
      socket.end(`HTTP/1.1 ${status}\r\n${headers}Content-Length: 0\r\nConnection: close\r\n\r\n`)
    if (dribbles === 'handshake') {
      return void dribble(
        socket,
        Buffer.from(`HTTP/1.1 101 Switching Protocols\r\nX: ${'x'.repeat(10_000)}`),
        dribbleMs,
      )
    }
    if (redirectsTo !== undefined) return void refuse('302 Found', `Location: ${redirectsTo}\r\n`)
    if (upgradeStatus !== undefined) return void refuse(`${upgradeStatus} Refused`)
    const url = new URL(request.url ?? '/', 'http://codec')
    if (url.pathname !== '/ws') return void refuse('404 Not Found')
    if (!this.#isSignedIn(request)) return void refuse('401 Unauthorized')
    this.#upgrades.handleUpgrade(request, socket, head, (ws) => this.#serve(ws, socket, url.search === '?legacy'))
  }

  /** By `Authorization: Basic`, or as Cisco's client does it: by a subprotocol. */
  #isSignedIn({ headers }: IncomingMessage): boolean {
    const { username = 'admin', password = 'codec-password' } = this.#options
    const [, basic] = /^Basic (.+)$/i.exec(headers.authorization ?? '') ?? []
    const [, subprotocol] = /^auth-(.+)$/.exec(headers['sec-websocket-protocol'] ?? '') ?? []
    const given = basic ? Buffer.from(basic, 'base64') : Buffer.from(subprotocol ?? '', 'base64url')
    const isRight = given.toString() === `${username}:${password}` && !this.#isLocked
    this.signIns[isRight ? 'right' : 'wrong']++
    if (isRight) this.signIns.wrong = 0
    else this.#isLocked ||= this.signIns.wrong >= maxWrongPasswords
    return isRight
  }

  #serve(ws: WebSocket, socket: Duplex, isLegacy: boolean): void {
    const session: Session = { ws, socket, isLegacy, subscriptions: new Map(), nextId: 0, isOccupied: false }
    this.#sessions.add(session)
    let idleTimer: NodeJS.Timeout | undefined
    const restartIdleTimer = () => {
      clearTimeout(idleTimer)
      const { closesIdleMs } = this.switches
      if (closesIdleMs !== undefined) idleTimer = setTimeout(() => ws.close(1000), closesIdleMs)
    }
    restartIdleTimer()
    ws.on('ping', restartIdleTimer)
    ws.on('pong', restartIdleTimer)
    ws.on('error', () => {})
    ws.on('message', (data) => {
      restartIdleTimer()
      this.#receive(session, data.toString())
    })
    ws.on('close', () => {
      clearTimeout(idleTimer)
      this.#sessions.delete(session)
    })
  }

  #receive(session: Session, text: string): void {
    let request: Request
    try {
      const { id, method, params = {} } = JSON.parse(text)
      request = { id, method: String(method), params }
    } catch {
      return void session.ws.close(1002)
    }
    this.requests.push(request)
    if (this.requests.length > maxRequestsKept) this.requests.shift()
    let answer: object
    try {
      answer = { result: this.#answer(session, request) }
    } catch (error) {
      if (!(error instanceof XapiFailure)) throw error
      answer = { error: { code: error.code, message: error.message } }
    }
    this.#send(session, request.id, { jsonrpc: '2.0', id: request.id, ...answer })
  }

  #send(session: Session, id: unknown, answer: object): void {
    const { switches } = this
    const { ws, socket } = session
    const text = JSON.stringify(answer)
    if (switches.isSilent || session.isOccupied) return
    session.isOccupied = switches.isEndless || switches.sendsGigabyte || switches.dribbles === 'answers'
    if (switches.isEndless) sendEndlessMessage(socket)
    else if (switches.sendsGigabyte) sendGigabyte(socket)
    else if (switches.dribbles === 'answers') dribble(socket, textFrame(text), switches.dribbleMs)
    else if (switches.sendsBinary) ws.send(Buffer.from(text))
    else if (switches.sendsJsonBomb) ws.send(jsonBomb(id))
    else if (switches.sendsWideBomb) ws.send(wideBomb(id))
    else if (switches.answersAnother) ws.send(JSON.stringify({ ...answer, id: 'another' }))
    else ws.send(text)
    if (switches.floods) this.#flood(ws)
  }

  #flood(ws: WebSocket): void {
    const params = { Id: 0, Status: { Audio: { Volume: 50 }, Padding: 'x'.repeat(8_000) } }
    const text = JSON.stringify({ jsonrpc: '2.0', method: 'xFeedback/Event', params })
    const next = () => {
      if (ws.readyState === ws.OPEN) ws.send(text, () => setImmediate(next))
    }
    next()
  }

  #answer(session: Session, { method, params }: Request): unknown {
    if (method === 'xGet') return this.#read(session, queryOf(params.Path))
    if (method === 'xSet') return this.#write(queryOf(params.Path), params.Value)
    if (method === 'xFeedback/Subscribe') return this.#subscribe(session, params)
    if (method === 'xFeedback/Unsubscribe') {
      if (!session.subscriptions.delete(Number(params.Id))) throw new XapiFailure(4, 'Unknown subscription')
      return true
    }
    if (method.startsWith('xCommand/')) return this.#command(session, method.slice(9).replaceAll('/', ' '), params)
    throw new XapiFailure(-32601, 'Method not found')
  }

  #read(session: Session, [kind, ...query]: Query): unknown {
    if (kind !== 'Status' && kind !== 'Configuration') throw new XapiFailure(3, 'No match on Path argument')
    this.#checkRead(kind, query)
    const found = [...this.#allValues(kind)].filter(([path]) => isBelow(query, path))
    if (found.length === 0 && !this.#isKnown(kind, query)) throw new XapiFailure(3, 'No match on Path argument')
    return partOf(treeOf(this.#onWire(session, found)), query) ?? []
  }

  #onWire({ isLegacy }: Session, values: readonly (readonly [string, unknown])[]): (readonly [string, unknown])[] {
    const { valuesAre } = this.switches
    return values.map(([path, value]) => {
      if (typeof value === 'object') return [path, value]
      if (valuesAre === 'objects') return [path, { Value: String(value) }]
      return [path, isLegacy || valuesAre === 'text' ? String(value) : value]
    })
  }

  #checkRead(kind: ValueKind, query: Query): void {
    const isDenied = this.switches.denied.some((name) => kind === 'Status' && query.join(' ').startsWith(name))
    if (isDenied) throw new XapiFailure(-31999, 'Permission denied')
  }

  /** Whether the codec has a list that the query is about, even if it is empty now. */
  #isKnown(kind: ValueKind, query: Query): boolean {
    const names = query.filter((token) => typeof token === 'string').join(' ')
    return xapiTable.some(
      (entry) =>
        entry.kind === kind &&
        entry.path.includes('[n]') &&
        `${entry.path.replaceAll('[n]', '')} `.startsWith(`${names} `) &&
        this.has(kind, entry.path),
    )
  }

  #allValues(kind: ValueKind): Map<string, Value> {
    if (kind === 'Configuration') return this.#values.Configuration
    const now = new Date(Date.now() + this.switches.clockErrorMs)
    return new Map<string, Value>([
      ...this.#values.Status,
      ['SystemUnit Uptime', Math.floor((Date.now() - this.#startedMs) / 1_000)],
      ['Time SystemTime', now.toISOString()],
    ])
  }

  #write([kind, ...query]: Query, value: unknown): true {
    const path = pathOf(query)
    const entry = kind === 'Configuration' ? entryOf(this.release, kind, path) : undefined
    if (!entry || !this.#values.Configuration.has(path)) throw new XapiFailure(3, 'No match on Path argument')
    if (!isAllowed(entry, value)) throw new XapiFailure(2, 'Illegal value')
    this.set('Configuration', path, value as Value)
    return true
  }

  #subscribe(session: Session, { Query, NotifyCurrentValue }: Readonly<Record<string, unknown>>): { Id: number } {
    const query = queryOf(Query)
    const [kind, ...rest] = query
    if (kind === 'Status' || kind === 'Configuration') this.#checkRead(kind, rest)
    const isKnown =
      kind === 'Configuration' || kind === 'Status'
        ? [...this.#allValues(kind).keys()].some((path) => isBelow(rest, path)) || this.#isKnown(kind, rest)
        : kind === 'Event'
    if (!isKnown && !this.switches.acceptsUnknownFeedback) throw new XapiFailure(3, 'No match on Query argument')
    if (session.subscriptions.size >= this.switches.maxSubscriptions)
      throw new XapiFailure(-31998, 'Too many subscribers')
    const Id = session.nextId++
    session.subscriptions.set(Id, query)
    if (NotifyCurrentValue === true && (kind === 'Status' || kind === 'Configuration')) {
      const values = [...this.#allValues(kind)].filter(([path]) => isBelow(rest, path))
      setImmediate(() => sendEvent(session, Id, { [kind]: treeOf(this.#onWire(session, values)) }))
    }
    return { Id }
  }

  #command(session: Session, path: string, params: Readonly<Record<string, unknown>>): { status: 'OK' } {
    const entry = entryOf(this.release, 'Command', path)
    if (!entry) throw new XapiFailure(-32601, 'Method not found')
    const known = { ...entry.params }
    if (this.switches.lacksForce) delete known.Force
    for (const [name, value] of Object.entries(params)) {
      const parameter = known[name]
      if (!parameter) throw new XapiFailure(4, `Unknown parameter ${name}`)
      if (!isAllowed(parameter, value)) throw new XapiFailure(2, `Illegal value of ${name}`)
    }
    const missing = Object.keys(known).find((name) => known[name]?.required && params[name] === undefined)
    if (missing !== undefined) throw new XapiFailure(4, `Missing parameter ${missing}`)
    if (path === 'Standby Activate') this.set('Status', 'Standby State', 'Standby')
    if (path === 'Standby Deactivate') this.set('Status', 'Standby State', 'Off')
    if (path === 'UserInterface Message Alert Display') {
      this.alert = { text: String(params.Text), seconds: Number(params.Duration ?? 0) }
    }
    if (path === 'SystemUnit Boot') this.#boot(session, params.Force === 'False')
    return { status: 'OK' }
  }

  #boot({ ws }: Session, onlyIfIdle: boolean): void {
    const isInUse = ['NumberOfActiveCalls', 'NumberOfInProgressCalls'].some(
      (name) => Number(this.get('Status', `SystemUnit State ${name}`)) > 0,
    )
    if (onlyIfIdle && isInUse) throw new XapiFailure(1, 'System is in use')
    if (this.switches.ignoresBoot) return
    if (this.switches.closesBeforeBootAnswer) {
      this.restart()
      return
    }
    setImmediate(() => {
      ws.close(1001)
      this.restart()
    })
  }

  #tell(kind: ValueKind, path: string, change: [string, unknown][]): void {
    for (const session of this.#sessions) {
      for (const [Id, [wanted, ...query]] of session.subscriptions) {
        // A ghost belongs to everyone who subscribed to something in its list.
        const isWanted =
          wanted === kind && (isBelow(query, path) || isBelow(query.slice(0, path.split(' ').length), path))
        if (isWanted) sendEvent(session, Id, { [kind]: treeOf(this.#onWire(session, change)) })
      }
    }
  }
}

const sendEvent = ({ ws }: Session, Id: number, change: object) =>
  ws.send(JSON.stringify({ jsonrpc: '2.0', method: 'xFeedback/Event', params: { Id, ...change } }))

function queryOf(path: unknown): Query {
  if (!Array.isArray(path) || path.length === 0) throw new XapiFailure(4, 'Path must be a list')
  return path.map((token) => (typeof token === 'number' || !/^\d+$/.test(String(token)) ? token : Number(token)))
}

const pathOf = (query: Query): string =>
  query
    .reduce<string>((text, token) => (typeof token === 'number' ? `${text}[${token}]` : `${text} ${token}`), '')
    .trim()

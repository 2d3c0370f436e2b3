// Asks one agent: many objects with one request, tables in few, each with a time limit, and failures in words.
import { isIPv6 } from 'node:net'
import snmp, { type Session, type Varbind } from 'net-snmp'
import { DriverFailure } from '../../driver.ts'
import type { SnmpAccess } from './access.ts'
import { GuardedUdp } from './guarded-udp.ts'
import type { SnmpValue } from './snmp-values.ts'

export interface SnmpTarget {
  readonly address: string
  readonly port: number
  readonly access: SnmpAccess
}

export interface RequestLimits {
  readonly timeoutMs: number
  readonly retries: number
}

/** A row of a table: its index, such as "3" or "1.1", and its values in the order of the columns that were asked for. */
export interface SnmpRow {
  readonly index: string
  readonly values: readonly SnmpValue[]
}

/** A response fits a datagram of 1,400 bytes in most cases; an agent sends fewer if they do not fit its own limit. */
const maxVarbindsPerResponse = 40
/** An agent that sends one row each time is not asked forever. */
const maxRequestsPerTable = 24
/** A slow agent is asked for the rest of a table for no longer than this many time-outs. */
const maxTimeoutsPerTable = 3

export class SnmpClient {
  readonly #target: SnmpTarget
  readonly #limits: RequestLimits
  readonly #udp: GuardedUdp
  readonly #session: Session
  #giveUp: ((error: Error) => void) | undefined
  #isClosed = false

  constructor(target: SnmpTarget, limits: RequestLimits, idBitsSize: 16 | 32) {
    this.#target = target
    this.#limits = limits
    this.#udp = new GuardedUdp(target.address, target.port, (error) => this.#giveUp?.(error))
    this.#session = this.#open(idBitsSize)
    // Bytes that are not a message of SNMP.
    this.#session.on('error', (error: Error) => this.#giveUp?.(error))
  }

  #open(idBitsSize: 16 | 32): Session {
    const { address, port, access } = this.#target
    const { timeoutMs: timeout, retries } = this.#limits
    const transport = isIPv6(address) ? 'udp6' : 'udp4'
    const shared = { port, timeout, retries, transport, idBitsSize, dgramModule: this.#udp } as const
    // A table that leads back to its start is an error.
    const options = { ...shared, backwardsGetNexts: false }
    return 'user' in access
      ? snmp.createV3Session(address, access.user, { ...options, version: snmp.Version3 })
      : snmp.createSession(address, access.community, { ...options, version: snmp.Version2c })
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#giveUp?.(new Error('closed'))
    this.#session.close()
  }

  /** Whether anything came back to the last request. */
  get hasAnswered(): boolean {
    return this.#udp.hasReceived
  }

  /** The values of these objects. A list that is too long for the agent is divided. */
  async get(oids: readonly string[]): Promise<Map<string, SnmpValue>> {
    try {
      const varbinds = await this.#request<readonly Varbind[]>((done) => this.#session.get(oids, done))
      return new Map(varbinds.map((varbind) => [varbind.oid, readableValue(varbind)]))
    } catch (error) {
      if (!isAboutOneObject(error)) throw this.#inWords(error)
      if (oids.length === 1) return new Map()
      const middle = Math.ceil(oids.length / 2)
      const first = await this.get(oids.slice(0, middle))
      return new Map([...first, ...(await this.get(oids.slice(middle)))])
    }
  }

  /** The first rows of a table, by index. */
  async rows(columns: readonly string[], maxRows: number): Promise<SnmpRow[]> {
    const rows = new Map<string, SnmpValue[]>()
    const repetitions = Math.min(maxRows, Math.floor(maxVarbindsPerResponse / columns.length))
    // Each column has its own position, because a table can have holes.
    let open = columns.map((column, at) => ({ column, at, from: column }))
    const until = performance.now() + maxTimeoutsPerTable * this.#limits.timeoutMs
    for (let asked = 0; open.length > 0 && asked < maxRequestsPerTable && performance.now() < until; asked++) {
      const from = open.map((position) => position.from)
      const answer = await this.#request<readonly (readonly Varbind[])[]>((done) =>
        this.#session.getBulk(from, 0, repetitions, done),
      ).catch((error) => {
        if (isAboutOneObject(error)) return []
        throw this.#inWords(error)
      })
      open = open.flatMap(({ column, at }, i) => {
        const varbinds = answer[i] ?? []
        const inside = varbinds.filter(
          (varbind) => varbind.oid.startsWith(`${column}.`) && !snmp.isVarbindError(varbind),
        )
        for (const varbind of inside) {
          const index = varbind.oid.slice(column.length + 1)
          if (!rows.has(index) && rows.size >= maxRows) continue
          const row = rows.get(index) ?? []
          row[at] = readableValue(varbind)
          rows.set(index, row)
        }
        const last = inside.at(-1)
        return last && inside.length === varbinds.length && rows.size < maxRows ? { column, at, from: last.oid } : []
      })
    }
    return [...rows].map(([index, values]) => ({ index, values }))
  }

  /** Calls net-snmp, which answers by calling `done`; or not at all, if a device keeps it busy. */
  async #request<T>(start: (done: (error: Error | null, answer?: T) => void) => void): Promise<T> {
    const { timeoutMs, retries } = this.#limits
    this.#udp.expectAnswer()
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const deadline = setTimeout(reject, (retries + 2) * timeoutMs, new snmp.RequestTimedOutError('deadline'))
    this.#giveUp = reject
    try {
      start((error, answer) => (error || !answer ? reject(error ?? new Error('empty answer')) : resolve(answer)))
      return await promise
    } finally {
      clearTimeout(deadline)
      this.#giveUp = undefined
    }
  }

  #inWords(error: unknown): DriverFailure {
    return failureInWords(error as Error & { code?: unknown }, this.#target)
  }
}

function readableValue(varbind: Varbind): SnmpValue {
  if (snmp.isVarbindError(varbind)) return undefined
  const { value } = varbind
  return typeof value === 'number' || typeof value === 'string' || Buffer.isBuffer(value) ? value : undefined
}

/** The agent answers, but not this request: it is too long for it, or it fails at an object that it does not have. */
const isAboutOneObject = (error: unknown) =>
  error instanceof snmp.RequestFailedError && error.status !== snmp.ErrorStatus.AuthorizationError

/** The reports with which an agent of version 3 refuses, by how net-snmp calls them. */
const refusals = {
  'Unknown User Name': 'The device does not know this user name of SNMP version 3.',
  'Wrong Digest': 'The device refuses the password or the authProtocol of this user.',
  'Decryption Error': 'The device cannot decrypt the request: check the privacy password and the privProtocol.',
  'Unsupported Security Level':
    'The device does not offer this combination of authProtocol and privProtocol to the user.',
} as const

function failureInWords(error: Error & { code?: unknown }, { address, port, access }: SnmpTarget): DriverFailure {
  const refusal = Object.entries(refusals).find(([report]) => error.message.startsWith(report))?.[1]
  if (refusal) return new DriverFailure('REFUSED', refusal)
  if (error instanceof snmp.RequestFailedError) {
    return new DriverFailure(
      'REFUSED',
      `The device refuses to show this ${'user' in access ? 'user' : 'community'} its objects.`,
    )
  }
  if (error instanceof snmp.RequestTimedOutError) {
    const advice =
      'user' in access
        ? 'Check the address, and whether SNMP version 3 is on.'
        : 'A device stays as silent if the community is wrong: check the address, whether SNMP is on, and the community.'
    return new DriverFailure('UNREACHABLE', `${address} does not answer on UDP port ${port}. ${advice}`)
  }
  if (error.code === 'ECONNREFUSED') {
    return new DriverFailure(
      'UNREACHABLE',
      `Nothing listens on UDP port ${port} of ${address}: switch SNMP on, or check the port.`,
    )
  }
  if (typeof error.code === 'string') {
    return new DriverFailure('UNREACHABLE', `${address} cannot be reached: ${error.code}.`)
  }
  return new DriverFailure('UNSUPPORTED', `${address} does not answer with valid SNMP on UDP port ${port}.`)
}

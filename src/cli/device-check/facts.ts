// The facts that the relays collect about a device: its HTTP requests, connections and messages. Checks judge them.
import type { UpKind } from '../../contract/device/protocol.ts'

/** One HTTP request of the device, with the answer that it got. */
export interface Exchange {
  readonly atMs: number
  readonly method: string
  readonly path: string
  readonly status: number
  /** The sentence of an error that the service answered with. */
  readonly message: string | undefined
  /** True if device-check answered instead of the service. */
  readonly isStaged: boolean
}

export interface SeenUp {
  readonly atMs: number
  /** The last part of the topic. */
  readonly kind: string
  readonly qos: number
  readonly isDup: boolean
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a device can send anything; the service checks the shape
  readonly body: any
  readonly isBeforeSubscribe: boolean
  /** Its PUBACK was not passed on to the device. */
  isAckWithheld: boolean
}

export interface SeenDown {
  readonly atMs: number
  readonly kind: string
  // biome-ignore lint/suspicious/noExplicitAny: messages of the service have the shapes of the contract
  readonly body: any
}

export interface Connection {
  readonly openedAtMs: number
  readonly username: string
  readonly password: string
  /** The code of CONNACK; undefined if the connection was closed without one. */
  connack: number | undefined
  /** True if device-check refused the connection, and not the service. */
  readonly isStaged: boolean
  readonly subscriptions: { readonly topic: string; readonly qos: number }[]
  readonly up: SeenUp[]
  readonly down: SeenDown[]
  endedAtMs: number | undefined
  endedBy: 'device' | 'service' | 'check' | undefined
  /** Set before device-check causes the end of the connection, in whatever way. */
  isEndExpected: boolean
  /** Why the service or the relay ended the connection, if that is known. */
  endReason: string | undefined
}

/** How a device came back after its connection had ended. */
export interface Return {
  /** The times from the end of one connection to the next attempt, in milliseconds. */
  readonly waitsMs: readonly number[]
  /** The connection over which the device subscribed again; undefined if it did not come back in time. */
  readonly connection: Connection | undefined
}

/** A command, and how the device reacted to it. */
export interface CommandFacts {
  /** Why the command was not sent, if it was not. */
  readonly skipped?: string
  readonly id: string
  /** The states that the device reported, with the connection of each. */
  readonly reports: readonly { readonly connection: Connection; readonly message: SeenUp }[]
  /** The connection over which the command was sent. */
  readonly sentOn: Connection | undefined
  /** Whether that connection had ended when the device had had its time. */
  readonly isConnectionLost: boolean
}

export interface Facts {
  endpointId: string | undefined
  readonly enrolments: Exchange[]
  readonly uploads: Exchange[]
  readonly connections: Connection[]
  /** The steps that were started. */
  readonly walked: Set<string>
  samplesWaitedSeconds?: number
  reconnect?: Return
  outage?: Return
  takeover?: Return
  config?: {
    readonly skipped?: string
    readonly changes: readonly {
      readonly what: 'set' | 'foreign' | 'unset'
      readonly key: string
      readonly value: unknown
      readonly before: unknown
      readonly version: number
      /** The report of this version; undefined if none came. */
      readonly report: SeenUp | undefined
    }[]
    readonly password: string
    readonly lastVersion: number
    readonly endedAtMs: number
  }
  readonly commands: Map<string, CommandFacts>
  /** Commands that device-check made up itself, by their name. */
  readonly staged: Map<string, CommandFacts>
  answers?: {
    readonly fromMs: number
    readonly untilMs: number
    readonly refused: SeenUp | undefined
    readonly refusedTimestamp: number | undefined
  }
  lostAck?: { readonly return: Return; readonly withheld: readonly SeenUp[] }
  unenrolled?: { readonly atMs: number; readonly watchedSeconds: number }
}

export const newFacts = (): Facts => ({
  endpointId: undefined,
  enrolments: [],
  uploads: [],
  connections: [],
  walked: new Set(),
  commands: new Map(),
  staged: new Map(),
})

/** The connections that the service accepted. */
export const accepted = ({ connections }: Facts): Connection[] => connections.filter(({ connack }) => connack === 0)

export const messagesOf = (facts: Facts, kind: UpKind): SeenUp[] =>
  facts.connections.flatMap(({ up }) => up.filter((message) => message.kind === kind))

export const downOf = (facts: Facts, kind: string): SeenDown[] =>
  facts.connections.flatMap(({ down }) => down.filter((message) => message.kind === kind))

/** The status of the device as its reports add up to it. */
export const statusOf = (facts: Facts): Record<string, unknown> =>
  Object.assign({}, ...messagesOf(facts, 'status').map(({ body }) => (typeof body === 'object' ? body : {})))

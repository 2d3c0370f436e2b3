// The messages between nodes. Each one is a hint: what it says is also in the database, and a node that misses it finds out later.
import type { EventChannelState, EventsMessage, SentCount } from './event-messages.ts'

/** Rows of one table: those whose key column has one of the values, or all of them. */
export interface WrittenRowsMessage {
  readonly table: string
  /** Absent means any organisation. */
  readonly org?: number
  readonly key?: string
  readonly values?: readonly (string | number)[]
  /** The columns that an update set. Absent for an insert or a delete. */
  readonly columns?: readonly string[]
}

/** The number of a commit, unaudited of a node or audited of an organisation, and the rows of watched tables that it wrote. */
export type WrittenMessage = ({ readonly nodeId: number } | { readonly org: number }) & {
  readonly number: number
  /** The tables that the sender watches: writes to other tables are not in the message. */
  readonly watched: string
  readonly rows: readonly WrittenRowsMessage[]
}

/** The body of each kind of message. Nothing secret belongs in here, because every user of the database can listen. */
export interface NodeMessages {
  /** A node has released scheduled tasks, which others can take. */
  tasksReleased: Record<string, never>
  /** A setting that all nodes share was changed. */
  settingsChanged: Record<string, never>
  /** A config or a command is pending for these endpoints. */
  wake: { readonly endpointIds: readonly string[] }
  /** Events of an organisation that is followed. */
  events: EventsMessage
  /** The sender follows an organisation from now on. `name` identifies this message in the answers. */
  follow: { readonly org: number; readonly name: string }
  /** The answer of every node to `follow`: it sends the events of that organisation. */
  following: { readonly org: number; readonly name: string }
  /** All nodes have answered `follow`. The events of audit entries after this number are sent, and `name` is the first position. */
  followStart: { readonly org: number; readonly name: string; readonly auditNumber: number }
  /** The sender had no follower of the organisation for two minutes. */
  unfollow: { readonly org: number }
  /** The event of an audit entry did not come in time. `name` becomes the id of the reset. */
  auditGap: { readonly org: number; readonly auditNumber: number; readonly name: string }
  /** The sender's event feed has started (without `sent`), or may have missed messages, and some of those that it sent may be lost. */
  feedJoin: { readonly name: string; readonly sent?: readonly SentCount[] }
  /** The answer to `feedJoin`: the state at that message, or none if the answering feed has not joined itself. */
  feedState: { readonly name: string; readonly channels?: readonly EventChannelState[] }
  /** No feed that is up has a state: all of them begin with no channels at this message. */
  feedEmpty: Record<string, never>
  /**
   * These endpoints were unenrolled, enrolled again with a new credential, or released by their gateway: their old connections must
   * end. Nodes of earlier versions know only the two words, and close the connection of a released endpoint as replaced.
   */
  disconnect: {
    readonly endpointIds: readonly string[]
    readonly why: 'unenrolled' | 'replaced'
    readonly isReleased?: boolean
  }
  /** The device's connection with this number to this node was replaced by one to another node. The old name stays, because nodes of earlier versions send and receive it. */
  takenOver: { readonly endpointId: string; readonly nodeId: number; readonly connection: number }
  /** A node has left, or was declared dead: its devices are no longer connected. */
  nodeEnded: { readonly nodeId: number }
  /** A commit was made. */
  written: WrittenMessage
  /** A key was created or revoked, or a session ended. */
  keysChanged: object
}

export type MessageKind = keyof NodeMessages

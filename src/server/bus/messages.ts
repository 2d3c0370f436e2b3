// The messages between nodes. Each one is a hint: what it says is also in the database, and a node that misses it finds out later.

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
  /** A config or a command is pending for these endpoints. */
  wake: { readonly endpointIds: readonly string[] }
  /** A node has left, or was declared dead: its devices are no longer connected. */
  nodeEnded: { readonly nodeId: number }
  /** A commit was made. */
  written: WrittenMessage
  /** A key was created or revoked, or a session ended. */
  keysChanged: object
}

export type MessageKind = keyof NodeMessages

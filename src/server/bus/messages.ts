// The messages between nodes. Each one is a hint: what it says is also in the database, and a node that misses it finds out later.

/** The body of each kind of message. Nothing secret belongs in here, because every user of the database can listen. */
export interface NodeMessages {
  /** A node has left, or was declared dead. */
  nodeEnded: { readonly nodeId: number }
  /** A node has released scheduled tasks, which others can take. */
  tasksReleased: Record<string, never>
  /** A setting that all nodes share was changed. */
  settingsChanged: Record<string, never>
  /** A config or a command is pending for these endpoints. */
  wake: { readonly endpointIds: readonly string[] }
}

export type MessageKind = keyof NodeMessages

// The messages between nodes. Each one is a hint: what it says is also in the database, and a node that misses it finds out later.

/** The body of each kind of message. Nothing secret belongs in here, because every user of the database can listen. */
export interface NodeMessages {
  /** A config or a command is pending for these endpoints. */
  wake: { readonly endpointIds: readonly string[] }
  /** These endpoints were unenrolled, or enrolled again with a new credential: their old connections must end. */
  disconnect: { readonly endpointIds: readonly string[]; readonly why: 'unenrolled' | 'replaced' }
  /** The device has connected to another node, so its connection with this number to this node must end. */
  takenOver: { readonly endpointId: string; readonly nodeId: number; readonly connection: number }
  /** A node has left, or was declared dead: its devices are no longer connected. */
  nodeEnded: { readonly nodeId: number }
}

export type MessageKind = keyof NodeMessages

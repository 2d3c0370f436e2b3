// The heads of audit logs that the works of one commit have moved. Each is read by the first of them, and written once, before the commit.

/** The head of an organisation's audit log: its last entry, and which messages the channels want. */
export interface AuditHead {
  readonly count: number
  readonly mac: Buffer
  readonly timestamp: number
  readonly wanted_messages: string
}

interface Move {
  readonly org: number
  readonly head: AuditHead
  /** Writes the head in the transaction of the work that moved it. */
  readonly write: () => Promise<unknown>
}

export class MovedHeads {
  /** In the order of the works. */
  #moves: Move[] = []

  /** The head as the last work has left it; undefined if no work has moved it. */
  find(org: number): AuditHead | undefined {
    return this.#moves.findLast((move) => move.org === org)?.head
  }

  add(move: Move): void {
    this.#moves.push(move)
  }

  get count(): number {
    return this.#moves.length
  }

  /** Keeps the first moves, and forgets those of a work that was undone. */
  keepFirst(count: number): void {
    this.#moves.length = count
  }

  async write(): Promise<void> {
    const lastMoves = new Map(this.#moves.map((move) => [move.org, move]))
    for (const { write } of lastMoves.values()) await write()
  }
}

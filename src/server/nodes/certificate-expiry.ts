// Stores when the TLS certificate of this node expires, and reads the earliest expiry among all nodes.
import { minuteMs } from '../../contract/durations.ts'
import type { Clock } from '../core/clock.ts'
import type { Database } from '../db/db.ts'
import { listCertificateExpiries, updateCertificateExpiry } from './store.ts'
import type { ThisNode } from './this-node.ts'

/** A node that ends and is not back after this time has left, and its certificate does not count any more. */
const restartMs = 2 * minuteMs
/** The earliest expiry is read again after this time. */
const maxAgeMs = 10_000

export class CertificateExpiry {
  readonly #db: Database
  readonly #clock: Clock
  readonly #node: ThisNode
  readonly #readOwn: () => number | undefined
  #stored: { readonly nodeId: number; readonly expiresAt: number | undefined } | undefined
  #cached: { readonly atMs: number; readonly earliest: number | undefined } | undefined

  /** `readOwn` returns undefined if this node has no certificate. */
  constructor(db: Database, clock: Clock, node: ThisNode, readOwn: () => number | undefined) {
    this.#db = db
    this.#clock = clock
    this.#node = node
    this.#readOwn = readOwn
  }

  /** Writes the expiry into the row of this node if the certificate was renewed, or if the node has a new row. */
  async writeOwn(): Promise<void> {
    const { id: nodeId } = this.#node
    const expiresAt = this.#readOwn()
    if (this.#stored?.nodeId === nodeId && this.#stored.expiresAt === expiresAt) return
    const row = { id: nodeId, expiresAt: expiresAt ?? null }
    await this.#db.systemTransaction((tx) => updateCertificateExpiry(tx, row))
    this.#stored = { nodeId, expiresAt }
    this.#cached = undefined
  }

  /** The earliest expiry among the nodes that are up or restart, in milliseconds; undefined if none has a certificate. The own one is written first, so that it counts. */
  async findEarliest(): Promise<number | undefined> {
    await this.writeOwn()
    if (!this.#cached || performance.now() - this.#cached.atMs > maxAgeMs) {
      const rows = await listCertificateExpiries(this.#db.system, { endedSince: this.#clock.now() - restartMs })
      // The last row of a name counts: the others are of starts before.
      const expiries = new Map(rows.map((row) => [row.name, row.certificate_expires_at as number]))
      const earliest = expiries.size > 0 ? Math.min(...expiries.values()) : undefined
      this.#cached = { atMs: performance.now(), earliest }
    }
    return this.#cached.earliest
  }
}

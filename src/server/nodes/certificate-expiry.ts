// Stores when the TLS certificate of this node expires, and reads which of all nodes expires first.
import type { Database } from '../db/db.ts'
import { findEarliestExpiry, updateCertificateExpiry } from './store.ts'
import type { ThisNode } from './this-node.ts'

/** So old may be what was read about the other nodes. */
const maxAgeMs = 10_000

export class CertificateExpiry {
  readonly #db: Database
  readonly #node: ThisNode
  readonly #readOwn: () => number | undefined
  #stored: { readonly nodeId: number; readonly expiresAt: number | undefined } | undefined
  #read: { readonly atMs: number; readonly earliest: number | undefined } | undefined

  /** `readOwn` returns undefined if this node has no certificate. */
  constructor(db: Database, node: ThisNode, readOwn: () => number | undefined) {
    this.#db = db
    this.#node = node
    this.#readOwn = readOwn
  }

  /** A renewed certificate is stored, and so is any in the new row of a node that was declared dead. */
  async store(): Promise<void> {
    const { id: nodeId } = this.#node
    const expiresAt = this.#readOwn()
    if (this.#stored?.nodeId === nodeId && this.#stored.expiresAt === expiresAt) return
    const row = { id: nodeId, expiresAt: expiresAt ?? null }
    await this.#db.systemTransaction((tx) => updateCertificateExpiry(tx, row))
    this.#stored = { nodeId, expiresAt }
    this.#read = undefined
  }

  /** The earliest of the nodes that are up, in milliseconds; undefined if none has a certificate. */
  async earliest(): Promise<number | undefined> {
    await this.store()
    if (!this.#read || performance.now() - this.#read.atMs > maxAgeMs) {
      const row = await findEarliestExpiry(this.#db.system)
      this.#read = { atMs: performance.now(), earliest: row?.certificate_expires_at ?? undefined }
    }
    return this.#read.earliest
  }
}

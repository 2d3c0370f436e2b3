// Stores log bundles in PostgreSQL, in chunks that are committed as they come, so that every node can serve them.
import { Readable } from 'node:stream'
import type { Database } from '../../../db/db.ts'
import type { FolderStorage } from './folder-storage.ts'
import type { BundleStorage, BundleUpload, OpenedBundle, StoredBundle } from './storage.ts'
import { deleteUpload, findChunk, findUpload, insertChunk } from './store.ts'

/** An upload holds two chunks in memory, one that is filled and one that is written; a download holds one or two. */
export const chunkBytes = 512 * 1024

export class RowStorage implements BundleStorage {
  readonly #db: Database
  readonly #folder: FolderStorage

  /** The folder may have bundles of version 0.1 that were not moved into rows yet. */
  constructor(db: Database, folder: FolderStorage) {
    this.#db = db
    this.#folder = folder
  }

  async write({ org, id }: BundleUpload, pieces: AsyncIterable<Buffer>): Promise<void> {
    const db = this.#db.forOrg(org)
    let seq = 0
    let writing: Promise<unknown> = Promise.resolve()
    try {
      for await (const bytes of inChunks(pieces)) {
        // The next chunk is received while this one is written.
        await writing
        const chunk = { upload: id, seq: seq++, bytes }
        writing = db.bulkTransaction((tx) => insertChunk(tx, chunk))
        writing.catch(() => {})
      }
    } finally {
      // A chunk that is written after the upload was removed would be refused, and its error would be the one reported.
      await writing.catch(() => {})
    }
    await writing
  }

  async open(bundle: StoredBundle): Promise<OpenedBundle | undefined> {
    const { org, uploadId } = bundle
    if (uploadId === null) return this.#folder.open(bundle)
    const upload = await findUpload(this.#db.forOrg(org), { id: uploadId })
    if (!upload) return undefined
    const size = upload.bytes
    // In byte mode the stream asks for the next chunk only after most of the last one was sent.
    const content = Readable.from(this.#chunks(org, uploadId, size), { objectMode: false, highWaterMark: 64 * 1024 })
    return { content, size }
  }

  /** The chunks are deleted with their upload. */
  async remove({ org, id }: BundleUpload, db = this.#db): Promise<void> {
    await db.forOrg(org).bulkTransaction((tx) => deleteUpload(tx, { id }))
  }

  async *#chunks(org: number, upload: string, size: number): AsyncGenerator<Buffer> {
    const db = this.#db.forOrg(org)
    for (let seq = 0, sent = 0; sent < size; seq++) {
      const chunk = await findChunk(db, { upload, seq })
      if (!chunk) throw new Error('the bundle was deleted while it was downloaded')
      sent += chunk.bytes.length
      yield chunk.bytes
    }
  }
}

/** Joins pieces into chunks of the same size; the last one may be shorter. */
export async function* inChunks(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let chunk = Buffer.allocUnsafeSlow(chunkBytes)
  let filled = 0
  for await (const piece of pieces) {
    for (let taken = 0; taken < piece.length; ) {
      const copied = piece.copy(chunk, filled, taken)
      taken += copied
      filled += copied
      if (filled < chunkBytes) continue
      yield chunk
      chunk = Buffer.allocUnsafeSlow(chunkBytes)
      filled = 0
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled)
}

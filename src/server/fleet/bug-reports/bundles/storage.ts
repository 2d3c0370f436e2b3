// The interface of the place where log bundles are stored: a folder beside SQLite, or rows of PostgreSQL.
import type { Readable } from 'node:stream'
import type { Database } from '../../../db/db.ts'

/** One upload of a bundle. Several uploads of the same bundle may run at the same time, and at most one of them counts in the end. */
export interface BundleUpload {
  readonly org: number
  readonly report: string
  /** Random, so that no upload can touch the content of another one. */
  readonly id: string
}

/** A bundle that a bug report lists. */
export interface StoredBundle {
  readonly org: number
  readonly report: string
  /** Null for a bundle of version 0.1, which lies in the folder under its file name. */
  readonly uploadId: string | null
  readonly file: string
}

export interface OpenedBundle {
  readonly content: Readable
  readonly size: number
}

export interface BundleStorage {
  /** Resolves when all pieces are durable. The caller removes an upload that failed. */
  write(upload: BundleUpload, pieces: AsyncIterable<Buffer>): Promise<void>
  /** The result is undefined if the content is not there. */
  open(bundle: StoredBundle): Promise<OpenedBundle | undefined>
  /** Deletes an upload that does not count: its content and its row. A scheduled task passes its own `db`, whose commits fail once another node holds the task. */
  remove(upload: BundleUpload, db?: Database): Promise<void>
}

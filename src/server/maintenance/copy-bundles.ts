// Copies the content of log bundles between a folder and PostgreSQL, in either direction, one bundle and one chunk at a time.

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { DatabaseOptions } from '../config/server-options.ts'
import { RegionAccess } from '../core/region-access.ts'
import type { TransactionSide } from '../db/copy/transaction-side.ts'
import type { Database } from '../db/db.ts'
import { TelemetryTx } from '../db/handles.ts'
import { MovedHeads } from '../db/moved-heads.ts'
import { FolderStorage } from '../fleet/bug-reports/bundles/folder-storage.ts'
import { inChunks, RowStorage } from '../fleet/bug-reports/bundles/row-storage.ts'
import { insertChunk, insertUpload } from '../fleet/bug-reports/bundles/store.ts'
import { updateMovedBundle } from '../fleet/bug-reports/store.ts'
import { bundlesName } from './backup/backup-file.ts'

export interface CopiedBundles {
  readonly copied: number
  /** Bundles that the source lists and does not have, as after a restore without them. */
  readonly missing: number
}

export interface BundlePlace {
  readonly db: Database
  readonly place: DatabaseOptions
}

const folderOf = ({ db, place }: BundlePlace) => new FolderStorage(db, join(place.dataDir, bundlesName))

/** `copy` is the transaction of the target, which has the rows of all tables. Files that a failure leaves are replaced by the next try. */
export async function copyBundles(
  source: BundlePlace,
  target: BundlePlace,
  copy: TransactionSide,
): Promise<CopiedBundles> {
  const storage = source.db.engine === 'sqlite' ? folderOf(source) : new RowStorage(source.db, folderOf(source))
  const bundles = await copy.kysely
    .selectFrom('bug_report_items')
    .select(['org', 'report_id as report', 'endpoint_id as endpoint', 'operation_id as command'])
    .select(['file', 'upload_id as uploadId', 'uploaded_at as at'])
    .where('file', 'is not', null)
    .execute()
  let copied = 0
  for (const { org, report, endpoint, command, file, uploadId, at } of bundles) {
    const bundle = await storage.open({ org, report, uploadId, file: file as string })
    if (!bundle) continue
    const tx = new TelemetryTx({ org, access: RegionAccess.everything }, copy.engine, copy, {
      isWatched: () => false,
      rows: [],
      heads: new MovedHeads(),
    })
    const id = uploadId ?? randomUUID()
    if (uploadId === null) {
      await insertUpload(tx, { id, report, endpoint, bytes: bundle.size, at: at ?? 0 })
      await updateMovedBundle(tx, { command, upload: id })
    }
    if (copy.engine === 'sqlite') await folderOf(target).write({ org, report, id }, bundle.content)
    else await writeChunks(tx, id, bundle.content)
    copied++
  }
  return { copied, missing: bundles.length - copied }
}

async function writeChunks(tx: TelemetryTx, upload: string, content: AsyncIterable<Buffer>): Promise<void> {
  let seq = 0
  for await (const bytes of inChunks(content)) await insertChunk(tx, { upload, seq: seq++, bytes })
}

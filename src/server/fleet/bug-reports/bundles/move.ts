// Moves log bundles that version 0.1 stored in the data folder into PostgreSQL, where every node can serve them.
import { randomUUID } from 'node:crypto'
import type { Services } from '../../../context/services.ts'
import type { Log } from '../../../core/log.ts'
import { updateMovedBundle } from '../store.ts'
import type { FolderStorage } from './folder-storage.ts'
import type { BundleStorage } from './storage.ts'
import { insertUpload, listOldBundles } from './store.ts'

/** May be interrupted at any time: a bundle is in the folder, or in the database, or in both, and the next run goes on. */
export async function moveOldBundles(
  { db, clock }: Services,
  { folder, rows, log }: { folder: FolderStorage; rows: BundleStorage; log: Log },
  signal: AbortSignal,
): Promise<void> {
  let moved = 0
  for (const { org, reports } of await folder.listReports()) {
    const inOrg = db.forOrg(org)
    for (const report of reports) {
      for (const { endpoint, command, file } of await listOldBundles(inOrg, { report })) {
        if (signal.aborted) return
        const old = { org, report, uploadId: null, file: file as string }
        const bundle = await folder.open(old)
        if (!bundle) continue
        const upload = { org, report, id: randomUUID() }
        const row = { id: upload.id, report, endpoint, bytes: bundle.size, at: clock.now() }
        await inOrg.bulkTransaction((tx) => insertUpload(tx, row))
        await rows.write(upload, bundle.content).catch(async (error) => {
          await rows.remove(upload).catch(() => {})
          throw error
        })
        await inOrg.telemetry((tx) => updateMovedBundle(tx, { command, upload: upload.id }))
        await folder.removeOld(old)
        moved++
      }
    }
  }
  if (moved > 0) log.info({ bundles: moved }, 'log bundles moved from the data folder into the database')
}

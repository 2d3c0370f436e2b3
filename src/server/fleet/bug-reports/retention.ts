// Deletes expired bug reports with their bundles, uploads that were given up, and files that a crash left behind.
import { hourMs } from '../../../contract/durations.ts'
import type { Services } from '../../context/services.ts'
import type { FolderStorage } from './bundles/folder-storage.ts'
import type { BundleStorage } from './bundles/storage.ts'
import { listAbandonedUploads } from './bundles/store.ts'
import { deleteExpiredReports, listExistingReports } from './store.ts'

const partialFileMaxAgeMs = 24 * hourMs
/** An upload takes ten minutes at most. */
const uploadMaxAgeMs = hourMs

/** The uploads of an expired report, and on PostgreSQL their content, are deleted with it by foreign keys. */
export async function deleteOldReports({ db, clock }: Services, storage: BundleStorage): Promise<void> {
  const now = clock.now()
  await db.systemTransaction((tx) => deleteExpiredReports(tx, { now }))
  for (;;) {
    const uploads = await listAbandonedUploads(db.system, { before: now - uploadMaxAgeMs })
    for (const upload of uploads) await storage.remove(upload, db)
    if (uploads.length === 0) return
  }
}

/** Runs after the rows were deleted: a later run finds files without a row, but a row without its files would list a missing bundle. */
export async function sweepBundleFolder({ db, clock }: Services, folder: FolderStorage): Promise<void> {
  for (const { org, reports } of await folder.listReports()) {
    const existing = new Set((await listExistingReports(db.forOrg(org), { ids: reports })).map((report) => report.id))
    for (const report of reports) {
      if (existing.has(report)) await folder.removePartialFiles(org, report, clock.now() - partialFileMaxAgeMs)
      else await folder.removeReport(org, report)
    }
  }
}

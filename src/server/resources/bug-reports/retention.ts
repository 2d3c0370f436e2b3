// Deletes expired bug reports with their files, and files that a crash left behind.
import type { Services } from '../../context/services.ts'
import { listStoredReports, removePartialFiles, removeReport } from './files.ts'
import { deleteExpiredReports, listExistingReports } from './store.ts'

const partialFileMaxAgeMs = 24 * 3_600_000

/** Rows are deleted first: the next run finds files without a row, but a row without its files would list a missing bundle. */
export async function deleteOldReports({ db, clock }: Services, folder: string): Promise<void> {
  const now = clock.now()
  await db.systemTransaction((tx) => deleteExpiredReports(tx, { now }))
  for (const { org, reports } of await listStoredReports(folder)) {
    const existing = new Set((await listExistingReports(db.forOrg(org), { ids: reports })).map((report) => report.id))
    for (const report of reports) {
      if (existing.has(report)) await removePartialFiles(folder, org, report, now - partialFileMaxAgeMs)
      else await removeReport(folder, org, report)
    }
  }
}

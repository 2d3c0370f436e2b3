// Old bug reports go, with their files; so does what a crash left behind.
import type { Services } from '../../context/services.ts'
import { listStored, removeReport, removeUnfinished } from './files.ts'
import { deleteExpiredReports, listExistingReports } from './store.ts'

const day = 24 * 3_600_000

/** Rows first: files without a row are found by the next run, a row without its files would promise what is gone. */
export async function deleteOldReports({ db, clock }: Services, folder: string): Promise<void> {
  const now = clock.now()
  await db.systemTransaction((tx) => deleteExpiredReports(tx, { now }))
  for (const { org, reports } of await listStored(folder)) {
    const kept = new Set((await listExistingReports(db.forOrg(org), { ids: reports })).map((report) => report.id))
    for (const report of reports) {
      if (kept.has(report)) await removeUnfinished(folder, org, report, now - day)
      else await removeReport(folder, org, report)
    }
  }
}

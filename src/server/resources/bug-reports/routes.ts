// The doors to bug reports.
import type { Handlers } from '../../http/handlers.ts'
import { bugReportsFileGet, bugReportsGet, endpointsGenerateBugReport } from './rules.ts'

export interface BugReportSettings {
  /** Where bundles lie. */
  readonly folder: string
  readonly retentionDays: number
}

export const bugReportRoutes = ({
  folder,
  retentionDays,
}: BugReportSettings): Handlers<'endpointsGenerateBugReport' | 'bugReportsGet' | 'bugReportsFileGet'> => ({
  endpointsGenerateBugReport: (by, { body, query }) =>
    endpointsGenerateBugReport(by, {
      endpointIds: body,
      inCallLogs: query.uploadInCallLogs === true,
      retentionDays,
    }),
  bugReportsGet: (by, { params }) => bugReportsGet(by, params.supportId),
  bugReportsFileGet: (by, { params }) => bugReportsFileGet(by, folder, params.supportId, params.name),
})

// Connects the operations of bug reports to their rules.
import type { OperationHandlers } from '../../context/handlers.ts'
import type { BundleStorage } from './bundles/storage.ts'
import { bugReportsFileGet, bugReportsGet, endpointsGenerateBugReport } from './rules.ts'

export interface BugReportSettings {
  readonly storage: BundleStorage
  readonly retentionDays: number
}

export const bugReportRoutes = (
  settings: BugReportSettings,
): OperationHandlers<'endpointsGenerateBugReport' | 'bugReportsGet' | 'bugReportsFileGet'> => ({
  endpointsGenerateBugReport: (ctx, { body, query }) =>
    endpointsGenerateBugReport(ctx, {
      endpointIds: body,
      inCallLogs: query.uploadInCallLogs === true,
      // The setting may change while the server runs.
      retentionDays: settings.retentionDays,
    }),
  bugReportsGet: (ctx, { params }) => bugReportsGet(ctx, params.supportId),
  bugReportsFileGet: (ctx, { params }) => bugReportsFileGet(ctx, settings.storage, params.supportId, params.name),
})

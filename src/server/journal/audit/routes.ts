// Connects the HTTP operations on the audit log to their rules.
import type { OperationHandlers } from '../../context/handlers.ts'
import { auditLogs } from './rules.ts'

export const auditRoutes: OperationHandlers<'auditLogs'> = {
  auditLogs: (ctx, { query, csv, headOnly }) => auditLogs(ctx, query, csv, headOnly),
}

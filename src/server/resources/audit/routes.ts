// The door to the audit log.
import type { Handlers } from '../../http/handlers.ts'
import { auditLogs } from './rules.ts'

export const auditRoutes: Handlers<'auditLogs'> = {
  auditLogs: (by, { query, csv }) => auditLogs(by, query, csv),
}

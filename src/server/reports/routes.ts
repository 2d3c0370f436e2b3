// Connects the operations of reports to their rules.
import type { OperationHandlers } from '../context/handlers.ts'
import type { LatestSampleCache } from '../sensors/latest/cache.ts'
import { airReport } from './air/kind.ts'
import { reportsAvailability } from './availability/rules.ts'
import { reportsIncidents } from './incidents/rules.ts'
import { reportsLastDay } from './last-day/rules.ts'
import { makeReport } from './make-report.ts'
import { metricsGet } from './metrics/rules.ts'
import { reportsMonth } from './month/rules.ts'
import type { ReportQueue } from './turns.ts'
import { useReport } from './use/kind.ts'

export const reportRoutes = (
  latest: LatestSampleCache,
  queue: ReportQueue,
): OperationHandlers<
  | 'metricsGet'
  | 'reportsLastDay'
  | 'reportsUse'
  | 'reportsAir'
  | 'reportsAvailability'
  | 'reportsIncidents'
  | 'reportsMonth'
> => ({
  metricsGet: (ctx, { query }) => metricsGet(ctx, latest, query),
  reportsLastDay,
  reportsUse: (ctx, { query, csv }) => makeReport(ctx, queue, query, csv, () => useReport(ctx.db)),
  reportsAir: (ctx, { query: { fields, ...query }, csv }) =>
    makeReport(ctx, queue, query, csv, (org) => airReport(ctx.db, fields, org.air_limits)),
  reportsAvailability: (ctx, { query, csv }) => reportsAvailability(ctx, queue, query, csv),
  reportsIncidents: (ctx, { query, csv }) => reportsIncidents(ctx, queue, query, csv),
  reportsMonth: (ctx, { query }) => reportsMonth(ctx, queue, query),
})

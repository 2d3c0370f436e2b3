// Connects the operations of reports to their rules.
import type { OperationHandlers } from '../context/handlers.ts'
import type { LatestSampleCache } from '../sensors/latest/cache.ts'
import { metricsGet } from './metrics/rules.ts'

export const reportRoutes = (latest: LatestSampleCache): OperationHandlers<'metricsGet'> => ({
  metricsGet: (ctx, { query }) => metricsGet(ctx, latest, query),
})

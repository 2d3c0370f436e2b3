// Connects the HTTP operations on events to their rules.
import type { OperationHandlers } from '../../context/handlers.ts'
import { eventsStream } from './rules.ts'

export const eventRoutes: OperationHandlers<'eventsStream'> = {
  eventsStream: async (ctx, { query, legacy }) => eventsStream(ctx, query, legacy),
}

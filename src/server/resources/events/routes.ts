// The door to events.
import type { OperationHandlers } from '../../http/handlers.ts'
import { eventsStream } from './rules.ts'

export const eventRoutes: OperationHandlers<'eventsStream'> = {
  eventsStream: async (_by, { query }) => eventsStream(query),
}

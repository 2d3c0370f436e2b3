// The door to events.
import type { Handlers } from '../../http/handlers.ts'
import { eventsStream } from './rules.ts'

export const eventRoutes: Handlers<'eventsStream'> = {
  eventsStream: async (_by, { query }) => eventsStream(query),
}

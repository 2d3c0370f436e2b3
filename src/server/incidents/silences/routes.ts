// Connects the HTTP operations on silences to their rules.
import type { OperationHandlers } from '../../context/handlers.ts'
import { silencesCreate, silencesDelete, silencesList } from './rules.ts'

export const silenceRoutes: OperationHandlers<'silencesList' | 'silencesCreate' | 'silencesDelete'> = {
  silencesList,
  silencesCreate: (ctx, { body }) => silencesCreate(ctx, body),
  silencesDelete: (ctx, { params }) => silencesDelete(ctx, params.id),
}

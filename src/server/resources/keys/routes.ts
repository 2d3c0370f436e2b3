// Connects the HTTP operations on API keys to their rules.
import type { OperationHandlers } from '../../http/handlers.ts'
import { keysCreate, keysDelete, keysList } from './rules.ts'

export const keyRoutes: OperationHandlers<'keysList' | 'keysCreate' | 'keysDelete'> = {
  keysList,
  keysCreate: (ctx, { body }) => keysCreate(ctx, body),
  keysDelete: (ctx, { params }) => keysDelete(ctx, params.id),
}

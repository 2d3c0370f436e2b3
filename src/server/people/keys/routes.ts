// Connects the HTTP operations on API keys to their rules.
import type { OperationHandlers } from '../../context/handlers.ts'
import { myKeysCreate, myKeysDelete, myKeysList } from './personal-keys.ts'
import { keysCreate, keysDelete, keysList } from './rules.ts'

export const keyRoutes: OperationHandlers<
  'keysList' | 'keysCreate' | 'keysDelete' | 'myKeysList' | 'myKeysCreate' | 'myKeysDelete'
> = {
  keysList,
  keysCreate: (ctx, { body }) => keysCreate(ctx, body),
  keysDelete: (ctx, { params }) => keysDelete(ctx, params.id),
  myKeysList,
  myKeysCreate: (ctx, { body }) => myKeysCreate(ctx, body),
  myKeysDelete: (ctx, { params }) => myKeysDelete(ctx, params.id),
}

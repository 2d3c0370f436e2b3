// Connects the HTTP operations on users to their rules.
import type { OperationHandlers } from '../../http/handlers.ts'
import { usersCreate, usersDelete, usersGet, usersList, usersUpdate } from './rules.ts'

export const userRoutes: OperationHandlers<'usersList' | 'usersGet' | 'usersCreate' | 'usersUpdate' | 'usersDelete'> = {
  usersList,
  usersGet: (ctx, { params }) => usersGet(ctx, params.id),
  usersCreate: (ctx, { body }) => usersCreate(ctx, body),
  usersUpdate: (ctx, { params, body }) => usersUpdate(ctx, params.id, body),
  usersDelete: (ctx, { params }) => usersDelete(ctx, params.id),
}

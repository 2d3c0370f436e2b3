// Connects the HTTP operations on users to their rules.
import type { OperationHandlers } from '../../context/handlers.ts'
import { meGet, meUpdate } from './me.ts'
import { usersCreate, usersDelete, usersGet, usersList, usersUpdate } from './rules.ts'
import { userSessionsDelete, userSessionsList, usersUnlink } from './sign-in-rules.ts'

export const userRoutes: OperationHandlers<
  | 'usersList'
  | 'usersGet'
  | 'usersCreate'
  | 'usersUpdate'
  | 'usersDelete'
  | 'usersUnlink'
  | 'userSessionsList'
  | 'userSessionsDelete'
  | 'meGet'
  | 'meUpdate'
> = {
  usersList,
  usersGet: (ctx, { params }) => usersGet(ctx, params.id),
  usersCreate: (ctx, { body }) => usersCreate(ctx, body),
  usersUpdate: (ctx, { params, body }) => usersUpdate(ctx, params.id, body),
  usersDelete: (ctx, { params }) => usersDelete(ctx, params.id),
  usersUnlink: (ctx, { params }) => usersUnlink(ctx, params.id),
  userSessionsList: (ctx, { params }) => userSessionsList(ctx, params.id),
  meGet,
  meUpdate: (ctx, { body }) => meUpdate(ctx, body),
  userSessionsDelete: (ctx, { params }) => userSessionsDelete(ctx, params.id),
}

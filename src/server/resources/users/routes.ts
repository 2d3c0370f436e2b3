// The doors to users.
import type { Handlers } from '../../http/handlers.ts'
import { usersCreate, usersDelete, usersGet, usersList, usersUpdate } from './rules.ts'

export const userRoutes: Handlers<'usersList' | 'usersGet' | 'usersCreate' | 'usersUpdate' | 'usersDelete'> = {
  usersList,
  usersGet: (by, { params }) => usersGet(by, params.id),
  usersCreate: (by, { body }) => usersCreate(by, body),
  usersUpdate: (by, { params, body }) => usersUpdate(by, params.id, body),
  usersDelete: (by, { params }) => usersDelete(by, params.id),
}

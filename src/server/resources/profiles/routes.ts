// Connects the HTTP operations on profiles to their rules.
import type { OperationHandlers } from '../../http/handlers.ts'
import { profilesCreate, profilesDelete, profilesGet, profilesList, profilesUpdate } from './rules.ts'

export const profileRoutes: OperationHandlers<
  'profilesList' | 'profilesGet' | 'profilesCreate' | 'profilesUpdate' | 'profilesDelete'
> = {
  profilesList,
  profilesGet: (ctx, { params }) => profilesGet(ctx, params.id),
  profilesCreate: (ctx, { body }) => profilesCreate(ctx, body),
  profilesUpdate: (ctx, { params, body }) => profilesUpdate(ctx, params.id, body),
  profilesDelete: (ctx, { params }) => profilesDelete(ctx, params.id),
}

// Connects the HTTP operations on profiles to their rules.
import type { OperationHandlers } from '../../context/handlers.ts'
import { profilesReach } from './reach.ts'
import {
  profilesCreate,
  profilesDelete,
  profilesGet,
  profilesList,
  profilesRestore,
  profilesUpdate,
  profileVersionsGet,
  profileVersionsList,
} from './rules.ts'

export const profileRoutes: OperationHandlers<
  | 'profilesList'
  | 'profilesGet'
  | 'profilesCreate'
  | 'profilesUpdate'
  | 'profilesDelete'
  | 'profilesReach'
  | 'profileVersionsList'
  | 'profileVersionsGet'
  | 'profilesRestore'
> = {
  profilesList,
  profilesGet: (ctx, { params }) => profilesGet(ctx, params.id),
  profilesCreate: (ctx, { body }) => profilesCreate(ctx, body),
  profilesUpdate: (ctx, { params, body }) => profilesUpdate(ctx, params.id, body),
  profilesReach: (ctx, { params }) => profilesReach(ctx, params.id),
  profileVersionsList: (ctx, { params }) => profileVersionsList(ctx, params.id),
  profileVersionsGet: (ctx, { params }) => profileVersionsGet(ctx, params.id, params.n),
  profilesRestore: (ctx, { params }) => profilesRestore(ctx, params.id, params.n),
  profilesDelete: (ctx, { params }) => profilesDelete(ctx, params.id),
}

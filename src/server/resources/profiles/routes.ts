// The doors to profiles.
import type { Handlers } from '../../http/handlers.ts'
import { profilesCreate, profilesDelete, profilesGet, profilesList, profilesUpdate } from './rules.ts'

export const profileRoutes: Handlers<
  'profilesList' | 'profilesGet' | 'profilesCreate' | 'profilesUpdate' | 'profilesDelete'
> = {
  profilesList,
  profilesGet: (by, { params }) => profilesGet(by, params.id),
  profilesCreate: (by, { body }) => profilesCreate(by, body),
  profilesUpdate: (by, { params, body }) => profilesUpdate(by, params.id, body),
  profilesDelete: (by, { params }) => profilesDelete(by, params.id),
}

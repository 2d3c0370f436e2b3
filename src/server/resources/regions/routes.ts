// The doors to regions.
import type { Handlers } from '../../http/handlers.ts'
import { regionsCreate, regionsDelete, regionsList, regionsUpdate } from './rules.ts'

export const regionRoutes: Handlers<'regionsList' | 'regionsCreate' | 'regionsUpdate' | 'regionsDelete'> = {
  regionsList,
  regionsCreate: (by, { body }) => regionsCreate(by, body.name),
  regionsUpdate: (by, { params, body }) => regionsUpdate(by, params.id, body.name),
  regionsDelete: (by, { params }) => regionsDelete(by, params.id),
}

// The doors to locations.
import type { Handlers } from '../../http/handlers.ts'
import { locationsCreate, locationsDelete, locationsList, locationsUpdate } from './rules.ts'

export const locationRoutes: Handlers<'locationsList' | 'locationsCreate' | 'locationsUpdate' | 'locationsDelete'> = {
  locationsList,
  locationsCreate: (by, { body }) => locationsCreate(by, body),
  locationsUpdate: (by, { params, body }) => locationsUpdate(by, params.id, body),
  locationsDelete: (by, { params }) => locationsDelete(by, params.id),
}

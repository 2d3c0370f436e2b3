// Connects the HTTP operations on locations to their rules.
import type { OperationHandlers } from '../../context/handlers.ts'
import type { PlaceReferences } from '../deleted-place.ts'
import { locationsCreate, locationsDelete, locationsGet, locationsList, locationsUpdate } from './rules.ts'

export const locationRoutes = (
  references: PlaceReferences,
): OperationHandlers<'locationsList' | 'locationsGet' | 'locationsCreate' | 'locationsUpdate' | 'locationsDelete'> => ({
  locationsList,
  locationsGet: (ctx, { params }) => locationsGet(ctx, params.id),
  locationsCreate: (ctx, { body }) => locationsCreate(ctx, body),
  locationsUpdate: (ctx, { params, body }) => locationsUpdate(ctx, params.id, body),
  locationsDelete: (ctx, { params }) => locationsDelete(ctx, params.id, references),
})

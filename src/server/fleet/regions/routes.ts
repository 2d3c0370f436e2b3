// Connects the HTTP operations on regions to their rules.
import type { OperationHandlers } from '../../context/handlers.ts'
import type { PlaceReferences } from '../deleted-place.ts'
import { regionsCreate, regionsDelete, regionsGet, regionsList, regionsUpdate } from './rules.ts'

export const regionRoutes = (
  references: PlaceReferences,
): OperationHandlers<'regionsList' | 'regionsGet' | 'regionsCreate' | 'regionsUpdate' | 'regionsDelete'> => ({
  regionsList,
  regionsGet: (ctx, { params }) => regionsGet(ctx, params.id),
  regionsCreate: (ctx, { body }) => regionsCreate(ctx, body),
  regionsUpdate: (ctx, { params, body }) => regionsUpdate(ctx, params.id, body),
  regionsDelete: (ctx, { params }) => regionsDelete(ctx, params.id, references),
})

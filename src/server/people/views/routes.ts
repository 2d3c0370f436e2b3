// Connects the HTTP operations on saved views to their rules.
import type { OperationHandlers } from '../../context/handlers.ts'
import { viewsCreate, viewsDelete, viewsList, viewsUpdate } from './rules.ts'

export const viewRoutes: OperationHandlers<'viewsList' | 'viewsCreate' | 'viewsUpdate' | 'viewsDelete'> = {
  viewsList,
  viewsCreate: (ctx, { body }) => viewsCreate(ctx, body),
  viewsUpdate: (ctx, { params, body }) => viewsUpdate(ctx, params.id, body),
  viewsDelete: (ctx, { params }) => viewsDelete(ctx, params.id),
}

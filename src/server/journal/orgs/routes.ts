// Connects the HTTP operations on the organisation to their rules.
import type { OperationHandlers } from '../../context/handlers.ts'
import { orgsGet, orgsUpdate } from './rules.ts'

export const orgRoutes: OperationHandlers<'orgsGet' | 'orgsUpdate'> = {
  orgsGet,
  orgsUpdate: (ctx, { body }) => orgsUpdate(ctx, body),
}

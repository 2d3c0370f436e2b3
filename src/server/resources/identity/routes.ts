// Connects the HTTP operations on the identity provider to their rules.
import type { OperationHandlers } from '../../context/handlers.ts'
import { identityGet, identityTest, identityUpdate } from './rules.ts'

/** Takes the value of --public-url. */
export const identityRoutes = (
  publicUrl: string | undefined,
): OperationHandlers<'identityGet' | 'identityUpdate' | 'identityTest'> => ({
  identityGet: (ctx) => identityGet(ctx, publicUrl),
  identityUpdate: (ctx, { body }) => identityUpdate(ctx, body, publicUrl),
  identityTest: (ctx) => identityTest(ctx, publicUrl),
})

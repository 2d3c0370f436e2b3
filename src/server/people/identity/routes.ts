// Connects the HTTP operations on the identity provider to their rules.
import type { OperationHandlers } from '../../context/handlers.ts'
import type { SignInAddresses } from '../../core/relying-party.ts'
import { identityGet, identityTest, identityUpdate } from './rules.ts'

export const identityRoutes = (
  addresses: SignInAddresses,
): OperationHandlers<'identityGet' | 'identityUpdate' | 'identityTest'> => ({
  identityGet: (ctx) => identityGet(ctx, addresses),
  identityUpdate: (ctx, { body }) => identityUpdate(ctx, body, addresses),
  identityTest: (ctx) => identityTest(ctx, addresses),
})

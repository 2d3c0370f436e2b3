// Operations whose rules are not written yet. This file goes when they are.
import { Failure } from '../core/failure.ts'
import type { OperationHandlers } from '../http/handlers.ts'

const pending = (): never => {
  throw new Failure('UNAVAILABLE', 'This operation is not available yet.')
}

export const pendingIdentityRoutes: OperationHandlers<'identityGet' | 'identityUpdate' | 'identityTest'> = {
  identityGet: pending,
  identityUpdate: pending,
  identityTest: pending,
}

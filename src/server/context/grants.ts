// Refuses a caller that would grant a permission or a region that it does not have. [contract 3.6] [contract 11.user]
import type { Permission } from '../../contract/people/permissions.ts'
import { permissionDenied } from '../auth/failures.ts'
import type { RegionAccess } from '../core/region-access.ts'
import type { RequestContext } from './request-context.ts'

const purpose = ', so it cannot grant it'

export function refuseGrantBeyondOwn(
  ctx: RequestContext,
  permissions: Iterable<Permission>,
  access: RegionAccess,
): void {
  for (const permission of permissions)
    if (!ctx.may(permission)) throw permissionDenied(ctx, permission, undefined, purpose)
  if (!ctx.access.includes(access)) throw permissionDenied(ctx, 'everywhere', undefined, purpose)
}

// The context of changes that the service makes by itself around sign-ins, such as ending the sessions of a person.

import type { Org } from '../../auth/token-holder.ts'
import { RequestContext, type RequestOrigin } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { RegionAccess } from '../../core/region-access.ts'

export const signInSystem = (services: Services, org: Org, origin: RequestOrigin = {}): RequestContext =>
  new RequestContext(
    services,
    {
      org,
      actor: { type: 'SYSTEM', id: 'sign-in', name: 'Sign-in' },
      may: () => false,
      access: RegionAccess.everything,
    },
    origin,
  )

// The context of changes that the service makes by itself around sign-ins, such as ending the sessions of a person.

import type { Org } from '../../auth/token-holder.ts'
import { RequestContext, type RequestOrigin } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { RegionAccess } from '../../core/region-access.ts'

/** The sign-in itself acts where the person is not proven, or where no person asked. */
export const signInActor = { type: 'SYSTEM', id: 'sign-in', name: 'Sign-in' } as const

export const systemSignInContext = (services: Services, org: Org, origin: RequestOrigin = {}): RequestContext =>
  new RequestContext(
    services,
    {
      org,
      actor: signInActor,
      may: () => false,
      access: RegionAccess.everything,
    },
    origin,
  )

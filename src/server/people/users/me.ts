// Says who the caller is and what it may do. [contract 11.user]
import type { Static } from 'typebox'
import type { Me } from '../../../contract/people/me.ts'
import { shownScopes } from '../../../contract/people/permissions.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { mustFind } from '../../core/failure.ts'
import { findOwnOrg } from '../../journal/orgs/store.ts'

export async function meGet({ db, actor, user, may, access, org }: RequestContext): Promise<Static<typeof Me>> {
  const { name, timezone } = mustFind(await findOwnOrg(db), `organisation ${org.id}`)
  return {
    actor: { type: user ? 'USER' : 'KEY', id: actor.id, name: actor.name },
    ...(user && { role: user.role }),
    scopes: shownScopes(may),
    manage: may('manage'),
    allRegions: access.isEverything,
    regionIds: [...(access.regionIds ?? [])],
    org: { id: org.id, name, timezone },
  }
}

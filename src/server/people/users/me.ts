// Says who the caller is and what it may do, and changes a person's own name. [contract 11.user]
import type { Static } from 'typebox'
import type { Me } from '../../../contract/people/me.ts'
import { shownScopes } from '../../../contract/people/permissions.ts'
import { emailKey } from '../../../contract/text.ts'
import type { InputOf } from '../../context/handlers.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { mustFind } from '../../core/failure.ts'
import { change } from '../../journal/audit/change.ts'
import { auditRef } from '../../journal/audit/change-result.ts'
import { findOwnOrg } from '../../journal/orgs/store.ts'
import { auditedUser } from './fields.ts'
import { requireUser } from './rules.ts'
import { updateUser } from './store.ts'

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

export const meUpdate = (ctx: RequestContext, { name }: InputOf<'meUpdate'>['body']) =>
  change(ctx, 'meUpdate', async (tx) => {
    const before = await requireUser(tx, ctx.actor.id)
    const user = { ...before, name }
    await updateUser(tx, { ...user, email_key: emailKey(user.email) })
    return {
      result: name === null ? {} : { name },
      target: auditRef('user', { id: user.id, name: user.email }),
      ...auditedUser.change(before, user),
    }
  })

// Gives an empty database its first organisation, and a key that may do everything in it.

import type { Actor } from './context/request-context.ts'
import type { Services } from './context/services.ts'
import { listAfter } from './resources/audit/store.ts'
import { keysCreate } from './resources/keys/rules.ts'
import { hasKey } from './resources/keys/store.ts'
import { commandLineActor, orgCreate } from './resources/orgs/rules.ts'
import { listOrgs } from './resources/orgs/store.ts'

/** The new organisation and its key, which can be shown only now. */
export interface FirstStart {
  readonly org: string
  readonly key: string
}

export const firstStartActor: Actor = { type: 'SYSTEM', id: 'first-start', name: 'First start' }

/** Undefined where there is something already. */
export async function firstStart(services: Services): Promise<FirstStart | undefined> {
  const actor = firstStartActor
  const [existing] = await listOrgs(services.db.system)
  if (existing) {
    // Unless a first start was interrupted before it made the key, nothing is left to do.
    const [entry] = await listAfter(services.db.forOrg(existing.key), { seq: 0, limit: 1 })
    if (entry?.actor_id !== actor.id || (await hasKey(services.db.system))) return undefined
  }
  const org = existing ?? (await orgCreate(services, actor, 'My organisation'))
  const ctx = await commandLineActor(services, actor, org.id)
  const { body } = await keysCreate(ctx, { name: 'First key', scopes: ['read', 'write'], manage: true })
  return { org: org.id, key: body.key }
}

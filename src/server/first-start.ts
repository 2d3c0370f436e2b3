// An empty database gets what somebody needs to begin: an organisation, and a key that may do everything in it.
import type { Actor, Ground } from './context/request-context.ts'
import { listAfter } from './resources/audit/store.ts'
import { keysCreate } from './resources/keys/rules.ts'
import { hasKey } from './resources/keys/store.ts'
import { administrator, orgCreate } from './resources/orgs/rules.ts'
import { listOrgs } from './resources/orgs/store.ts'

/** What was made can be shown this once. */
export interface First {
  readonly org: string
  readonly key: string
}

export const firstStartActor: Actor = { type: 'SYSTEM', id: 'first-start', name: 'First start' }

/** Undefined where there is something already. */
export async function firstStart(ground: Ground): Promise<First | undefined> {
  const actor = firstStartActor
  const [existing] = await listOrgs(ground.db)
  if (existing) {
    // Unless a first start was interrupted before it made the key, nothing is left to do.
    const [entry] = await listAfter(ground.db, existing.key, 0, 1)
    if (entry?.actor_id !== actor.id || (await hasKey(ground.db))) return undefined
  }
  const org = existing ?? (await orgCreate(ground, actor, 'My organisation'))
  const by = await administrator(ground, actor, org.id)
  const { body } = await keysCreate(by, { name: 'First key', scopes: ['read', 'write'], manage: true })
  return { org: org.id, key: body.key }
}

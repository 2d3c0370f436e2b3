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

/** Undefined where there is something already. If several servers start at the same time on an empty database, one of them creates it. */
export async function firstStart(services: Services): Promise<FirstStart | undefined> {
  if (!(await findUnfinished(services))) return undefined
  return services.db.exclusively('first start', async () => {
    // Another server may have finished it while this one waited.
    const unfinished = await findUnfinished(services)
    if (!unfinished) return undefined
    const org = unfinished.org ?? (await orgCreate(services, firstStartActor, 'My organisation'))
    const ctx = await commandLineActor(services, firstStartActor, org.id)
    const { body } = await keysCreate(ctx, { name: 'First key', scopes: ['read', 'write'], manage: true })
    return { org: org.id, key: body.key }
  })
}

/** An empty database, or the organisation of a first start that was interrupted before it made the key. */
async function findUnfinished({ db }: Services): Promise<{ org?: { id: string } } | undefined> {
  const [org] = await listOrgs(db.system)
  if (!org) return {}
  const [entry] = await listAfter(db.forOrg(org.key), { seq: 0, limit: 1 })
  return entry?.actor_id === firstStartActor.id && !(await hasKey(db.system)) ? { org } : undefined
}

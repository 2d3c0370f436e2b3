// Gives an empty database its first organisation, and a key that may do everything in it.

import type { Actor } from './context/request-context.ts'
import type { Services } from './context/services.ts'
import { listAfter } from './journal/audit/store.ts'
import { commandLineActor, orgCreate } from './journal/orgs/rules.ts'
import { listOrgs } from './journal/orgs/store.ts'
import { keysCreate } from './people/keys/rules.ts'
import { hasKey } from './people/keys/store.ts'
import { hasActiveOwner, listOrgsWithoutOwner } from './people/users/store.ts'

export interface FirstStart {
  readonly org: string
  /** Can be shown only now; undefined if the start makes no key. */
  readonly key: string | undefined
}

export const firstStartActor: Actor = { type: 'SYSTEM', id: 'first-start', name: 'First start' }

/**
 * Undefined where there is something already. If several servers start at the same time on an empty database, one of them creates it.
 * The first start that may show a key makes it, even if an earlier one made the organisation.
 */
export async function firstStart(services: Services, makesKey: boolean): Promise<FirstStart | undefined> {
  if (!(await findUnfinished(services, makesKey))) return undefined
  return services.db.exclusively('first start', async () => {
    // Another server may have finished it while this one waited.
    const unfinished = await findUnfinished(services, makesKey)
    if (!unfinished) return undefined
    const org = unfinished.org ?? (await orgCreate(services, firstStartActor, 'My organisation'))
    if (!makesKey) return { org: org.id, key: undefined }
    const ctx = await commandLineActor(services, firstStartActor, org.id)
    const { body } = await keysCreate(ctx, { name: 'First key', scopes: ['read', 'write'], manage: true })
    return { org: org.id, key: body.key }
  })
}

/** An empty database, or the organisation of a first start that made no key, while it has no active owner either. */
async function findUnfinished({ db }: Services, makesKey: boolean): Promise<{ org?: { id: string } } | undefined> {
  const [org] = await listOrgs(db.system)
  if (!org) return {}
  if (!makesKey) return undefined
  const [entry] = await listAfter(db.forOrg(org.key), { seq: 0, limit: 1 })
  if (entry?.actor_id !== firstStartActor.id || (await hasKey(db.system))) return undefined
  return (await hasActiveOwner(db.forOrg(org.key))) ? undefined : { org }
}

/** The ids of all organisations, and of those that lack a way in. */
export interface MissingAccess {
  readonly orgs: readonly string[]
  /** Every organisation if no key exists, otherwise none: people who use only the console need no key. */
  readonly key: readonly string[]
  /** The organisations without an active owner. */
  readonly owner: readonly string[]
}

export async function listMissingAccess({ db }: Services): Promise<MissingAccess> {
  const orgs = (await listOrgs(db.system)).map(({ id }) => id)
  const owner = (await listOrgsWithoutOwner(db.system)).map(({ id }) => id)
  return { orgs, key: (await hasKey(db.system)) ? [] : orgs, owner }
}

// Carries out the operations of people on their personal API keys, one function for each. [contract 11.local]

import { dayMs } from '../../../contract/durations.ts'
import { maxPersonalKeyDays, maxPersonalKeys } from '../../../contract/people/me.ts'
import { sessionEnded } from '../../auth/failures.ts'
import { refuseGrantBeyondOwn } from '../../context/grants.ts'
import type { InputOf } from '../../context/handlers.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { Failure, invalid, mustFind } from '../../core/failure.ts'
import { RegionAccess } from '../../core/region-access.ts'
import { change } from '../../journal/audit/change.ts'
import { auditRef } from '../../journal/audit/change-result.ts'
import { isUserActive } from '../users/store.ts'
import { futureTime, storeNewKey } from './new-key.ts'
import { deleteKey, listKeysOfUser } from './store.ts'
import { auditedKey, keyView } from './view.ts'

export const myKeysList = async (ctx: RequestContext) => ({
  keys: (await listKeysOfUser(ctx.db, { user: requireUserId(ctx) })).map(keyView),
})

/** The role and the regions of its person limit the key at the time of each request. */
export async function myKeysCreate(ctx: RequestContext, { name, scopes, expiresAt }: InputOf<'myKeysCreate'>['body']) {
  const userId = requireUserId(ctx)
  refuseGrantBeyondOwn(ctx, scopes, RegionAccess.nothing)
  const now = ctx.clock.now()
  const expiry = futureTime(expiresAt, now)
  if (expiry > now + maxPersonalKeyDays * dayMs) {
    throw invalid([{ field: 'expiresAt', error: `must be within ${maxPersonalKeyDays} days` }])
  }
  const { row, key } = await change(ctx, 'myKeysCreate', async (tx) => {
    // The person may have been disabled or unlinked since the request began.
    if (!(await isUserActive(tx, { id: userId }))) throw sessionEnded()
    if ((await listKeysOfUser(tx, { user: userId })).length >= maxPersonalKeys) {
      throw new Failure('FAILED_PRECONDITION', `you have ${maxPersonalKeys} personal keys already. Revoke one first.`)
    }
    const rest = { manage: false, regionIds: undefined, rateLimit: null, createdAt: now, expiresAt: expiry }
    const created = await storeNewKey(tx, { name, scopes, ...rest, userId })
    return { result: created, target: auditRef('key', created.row), after: auditedKey(created.row) }
  })
  ctx.keysChanged()
  return { ...keyView(row), key }
}

export async function myKeysDelete(ctx: RequestContext, keyId: string) {
  const user = requireUserId(ctx)
  await change(ctx, 'myKeysDelete', async (tx) => {
    const own = (await listKeysOfUser(tx, { user })).find(({ id }) => String(id) === keyId)
    const key = mustFind(own, `personal key ${keyId}`)
    await deleteKey(tx, { id: key.id })
    return { result: undefined, target: auditRef('key', key), before: auditedKey(key) }
  })
  ctx.keysChanged()
  return {}
}

/** The access checks refuse callers that are no person: the operations declare that they need one. */
function requireUserId({ user }: RequestContext): number {
  if (!user) throw new Error('an operation of a person was called without one')
  return user.id
}

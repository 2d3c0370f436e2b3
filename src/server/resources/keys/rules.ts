// Carries out the operations on API keys, one function for each. [contract 3.1] [contract 6.keys]
import type { Static } from 'typebox'
import type { Key } from '../../../contract/people/keys.ts'
import { type CallerScope, scopes as callerScopes } from '../../../contract/people/permissions.ts'
import { makeApiKey, tokenHash, visiblePart } from '../../auth/token.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { isoTime, parseTime } from '../../core/clock.ts'
import { Failure, invalid, mustFind } from '../../core/failure.ts'
import { nextId } from '../../db/queries/next-id.ts'
import { VersionedAnswer } from '../../http/answer.ts'
import { permissionDenied } from '../../http/gate.ts'
import { parseInt32 } from '../../http/input/input.ts'
import { change } from '../audit/change.ts'
import { auditRef } from '../audit/changed.ts'
import { deleteKey, findKey, hasOtherManager, insertKey, type KeyRow, listKeys } from './store.ts'

export interface NewKey {
  readonly name: string
  readonly scopes: readonly CallerScope[]
  readonly manage?: boolean
  readonly expiresAt?: string | null
  /** The limit, in requests per second, of this key alone. Only the command line sets it. */
  readonly rateLimit?: number | undefined
}

export const keysList = async (ctx: RequestContext) => ({
  keys: (await listKeys(ctx.db)).map(view),
})

export async function keysCreate(ctx: RequestContext, newKey: NewKey) {
  refuseGrantBeyondOwn(ctx, newKey)
  const now = ctx.clock.now()
  const expires_at = expiryOf(newKey, now)
  const token = makeApiKey()
  const created = await change(ctx, 'keysCreate', async (tx) => {
    const row: KeyRow = {
      org: ctx.org.key,
      id: await nextId(tx, 'key'),
      version: 1,
      name: newKey.name,
      prefix: visiblePart(token),
      read: newKey.scopes.includes('read') ? 1 : 0,
      write: newKey.scopes.includes('write') ? 1 : 0,
      manage: newKey.manage ? 1 : 0,
      rate_limit: newKey.rateLimit ?? null,
      created_at: now,
      expires_at,
      last_used_at: null,
      operate: newKey.scopes.includes('operate') ? 1 : 0,
      all_regions: 1,
      user_id: null,
    }
    await insertKey(tx, row, tokenHash(token))
    const { name, prefix, scopes, manage, expiresAt } = view(row)
    return {
      result: row,
      target: auditRef('key', row),
      after: { name, prefix, scopes, manage, expiresAt, rateLimit: newKey.rateLimit },
    }
  })
  ctx.keysChanged()
  return new VersionedAnswer(1, { ...view(created), key: token })
}

export async function keysDelete(ctx: RequestContext, keyId: string) {
  await change(ctx, 'keysDelete', async (tx) => {
    const id = parseInt32(keyId)
    const key = mustFind(id === undefined ? undefined : await findKey(tx, { id }), `key ${keyId}`)
    checkIfMatch(ctx, key.version)
    if (key.manage === 1 && !(await hasOtherManager(tx, key, ctx.clock.now()))) {
      throw new Failure(
        'FAILED_PRECONDITION',
        'the last key that manages (it needs manage and write) cannot be revoked. Create another one first.',
      )
    }
    await deleteKey(tx, { id: key.id })
    const { name, prefix, scopes, manage } = view(key)
    return { result: undefined, target: auditRef('key', key), before: { name, prefix, scopes, manage } }
  })
  ctx.keysChanged()
  return {}
}

/** A key cannot grant a permission that it does not have. [contract 3.6] */
function refuseGrantBeyondOwn(ctx: RequestContext, { scopes, manage }: NewKey) {
  for (const scope of scopes)
    if (!ctx.may(scope)) throw permissionDenied(ctx, scope, undefined, ', so it cannot grant it')
  if (manage && !ctx.may('manage')) throw permissionDenied(ctx, 'manage', undefined, ', so it cannot grant it')
}

function expiryOf({ expiresAt }: NewKey, now: number): number | null {
  if (expiresAt === undefined || expiresAt === null) return null
  const at = parseTime(expiresAt)
  if (at === undefined || at <= now) throw invalid([{ field: 'expiresAt', error: 'must be a time in the future' }])
  return at
}

const view = (row: KeyRow): Static<typeof Key> => ({
  id: String(row.id),
  name: row.name,
  prefix: row.prefix,
  scopes: callerScopes.filter((scope) => row[scope] === 1),
  manage: row.manage === 1,
  createdAt: isoTime(row.created_at),
  ...(row.expires_at !== null && { expiresAt: isoTime(row.expires_at) }),
  ...(row.last_used_at !== null && { lastUsedAt: isoTime(row.last_used_at) }),
})

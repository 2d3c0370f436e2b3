// API keys: one function for each operation. [contract 3.1] [contract 6.keys]
import type { Static } from 'typebox'
import type { Key } from '../../../contract/keys.ts'
import type { Scope } from '../../../contract/operation.ts'
import { makeToken, shownPart, tokenHash } from '../../auth/token.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { By } from '../../context/request-context.ts'
import { isoTime, parseTime } from '../../core/clock.ts'
import { Failure, found, invalid } from '../../core/failure.ts'
import { nextId } from '../../db/next-id.ts'
import { Versioned } from '../../http/answer.ts'
import { denied } from '../../http/gate.ts'
import { parseInt32 } from '../../http/input.ts'
import { change, ref } from '../audit/change.ts'
import { deleteKey, findKey, hasOtherManager, insertKey, type KeyRow, listKeys } from './store.ts'

export interface NewKey {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly manage?: boolean
  readonly expiresAt?: string | null
  /** Requests a second for this key alone; only the command line gives it. */
  readonly rateLimit?: number | undefined
}

export const keysList = async (by: By) => ({ keys: (await listKeys(by.ground.db, by.org.key)).map(view) })

export async function keysCreate(by: By, wanted: NewKey) {
  refuseMore(by, wanted)
  const now = by.ground.clock.now()
  const expires_at = expiryOf(wanted, now)
  const token = makeToken()
  const created = await change(by, 'keysCreate', async (tx) => {
    const row: KeyRow = {
      org: by.org.key,
      id: await nextId(tx, by.org.key, 'key'),
      version: 1,
      name: wanted.name,
      prefix: shownPart(token),
      read: wanted.scopes.includes('read') ? 1 : 0,
      write: wanted.scopes.includes('write') ? 1 : 0,
      manage: wanted.manage ? 1 : 0,
      rate_limit: wanted.rateLimit ?? null,
      created_at: now,
      expires_at,
      last_used_at: null,
    }
    await insertKey(tx, row, tokenHash(token))
    const { name, prefix, scopes, manage, expiresAt } = view(row)
    return {
      result: row,
      target: ref('key', row),
      after: { name, prefix, scopes, manage, expiresAt, rateLimit: wanted.rateLimit },
    }
  })
  by.ground.keysChanged()
  return new Versioned(1, { ...view(created), key: token })
}

export async function keysDelete(by: By, keyId: string) {
  await change(by, 'keysDelete', async (tx) => {
    const id = parseInt32(keyId)
    const key = found(id === undefined ? undefined : await findKey(tx, by.org.key, id), `key ${keyId}`)
    checkIfMatch(by, key.version)
    if (key.manage === 1 && !(await hasOtherManager(tx, by.org.key, key, by.ground.clock.now()))) {
      throw new Failure(
        'FAILED_PRECONDITION',
        'the last key that manages (it needs manage and write) cannot be revoked. Create another one first.',
      )
    }
    await deleteKey(tx, by.org.key, key.id)
    const { name, prefix, scopes, manage } = view(key)
    return { result: undefined, target: ref('key', key), before: { name, prefix, scopes, manage } }
  })
  by.ground.keysChanged()
  return {}
}

/** A key never grants what it does not have. [contract 3.6] */
function refuseMore(by: By, { scopes, manage }: NewKey) {
  for (const scope of scopes) if (!by.may(scope)) throw denied(scope, `the scope ${scope}, so it cannot grant it`)
  if (manage && !by.may('manage')) throw denied('manage', 'the attribute manage, so it cannot grant it')
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
  scopes: [...(row.read === 1 ? (['read'] as const) : []), ...(row.write === 1 ? (['write'] as const) : [])],
  manage: row.manage === 1,
  createdAt: isoTime(row.created_at),
  ...(row.expires_at !== null && { expiresAt: isoTime(row.expires_at) }),
  ...(row.last_used_at !== null && { lastUsedAt: isoTime(row.last_used_at) }),
})

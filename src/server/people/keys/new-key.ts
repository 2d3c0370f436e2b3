// Makes the secret and the row of a new API key.
import type { CallerScope } from '../../../contract/people/permissions.ts'
import { parseTime } from '../../../contract/time.ts'
import { makeApiKey, tokenHash, visiblePart } from '../../auth/token.ts'
import { invalid } from '../../core/failure.ts'
import type { Tx } from '../../db/handles.ts'
import { nextId } from '../../db/queries/next-id.ts'
import { insertKey, type KeyRow } from './store.ts'

interface KeyValues {
  readonly name: string
  readonly scopes: readonly CallerScope[]
  readonly manage: boolean
  readonly rateLimit: number | null
  readonly createdAt: number
  readonly expiresAt: number | null
  /** Undefined for all regions. */
  readonly regionIds: readonly number[] | undefined
  /** The person that the key belongs to. */
  readonly userId: number | null
}

/** Stores a key, and returns its row and the key itself, which is not stored. */
export async function storeNewKey(tx: Tx, values: KeyValues): Promise<{ row: KeyRow; key: string }> {
  const key = makeApiKey()
  const { scopes, regionIds } = values
  const row: KeyRow = {
    org: tx.org,
    id: await nextId(tx, 'key'),
    version: 1,
    name: values.name,
    prefix: visiblePart(key),
    read: scopes.includes('read') ? 1 : 0,
    operate: scopes.includes('operate') || scopes.includes('write') ? 1 : 0,
    write: scopes.includes('write') ? 1 : 0,
    manage: values.manage ? 1 : 0,
    rate_limit: values.rateLimit,
    created_at: values.createdAt,
    expires_at: values.expiresAt,
    last_used_at: null,
    all_regions: regionIds ? 0 : 1,
    user_id: values.userId,
    regions: JSON.stringify(regionIds ?? []),
  }
  await insertKey(tx, row, tokenHash(key), regionIds ?? [])
  return { row, key }
}

/** Reads the expiry of a request. */
export function futureTime(text: string, now: number): number {
  const at = parseTime(text)
  if (at === undefined || at <= now) throw invalid([{ field: 'expiresAt', error: 'must be a time in the future' }])
  return at
}

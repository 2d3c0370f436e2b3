// Shows API keys as the API answers them. [contract 3.2] [contract 3.3]
import type { Static } from 'typebox'
import type { Key } from '../../../contract/people/keys.ts'
import { shownScopes } from '../../../contract/people/permissions.ts'
import { isoTime } from '../../core/clock.ts'
import type { KeyRow } from './store.ts'

export const keyView = (row: KeyRow): Static<typeof Key> => ({
  id: String(row.id),
  name: row.name,
  prefix: row.prefix,
  scopes: shownScopes((scope) => row[scope] === 1),
  manage: row.manage === 1,
  ...(row.all_regions === 0 && { regionIds: regionIdsOf(row) }),
  ...(row.user_id !== null && { userId: String(row.user_id) }),
  createdAt: isoTime(row.created_at),
  ...(row.expires_at !== null && { expiresAt: isoTime(row.expires_at) }),
  ...(row.last_used_at !== null && { lastUsedAt: isoTime(row.last_used_at) }),
})

/** The fields of a key that audit entries show. */
export function auditedKey(row: KeyRow) {
  const { id: _, createdAt: __, ...fields } = keyView(row)
  return { ...fields, ...(row.rate_limit !== null && { rateLimit: row.rate_limit }) }
}

const regionIdsOf = ({ regions }: KeyRow): number[] => (JSON.parse(regions) as number[]).sort((a, b) => a - b)

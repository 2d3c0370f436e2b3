// Shows users as the API answers them. [contract 11.user]
import { hash } from 'node:crypto'
import type { Static } from 'typebox'
import type { Role } from '../../../contract/people/permissions.ts'
import type { User } from '../../../contract/people/users.ts'
import { VersionedAnswer } from '../../context/answers.ts'
import { isoTime } from '../../core/clock.ts'
import type { UserRow } from './store.ts'

export const userView = (user: UserRow, regionIds: readonly number[]): Static<typeof User> => ({
  id: String(user.id),
  email: user.email,
  ...(user.name !== null && { name: user.name }),
  role: user.role as Role,
  allRegions: user.all_regions === 1,
  regionIds: [...regionIds],
  state: user.state as 'INVITED' | 'ACTIVE' | 'DISABLED',
  signsInWith: [
    ...(user.has_identity === 1 ? (['oidc'] as const) : []),
    ...(user.has_passkey === 1 ? (['passkey'] as const) : []),
  ],
  ...(user.last_seen_at !== null && { lastSeenAt: isoTime(user.last_seen_at) }),
})

/** Signing in and using the service change the answer without a new version, so the ETag has a hash of what they change. [contract 7.9] */
export function userAnswer(user: UserRow, regionIds: readonly number[]): VersionedAnswer<Static<typeof User>> {
  const body = userView(user, regionIds)
  const { state, signsInWith, lastSeenAt } = body
  if (lastSeenAt === undefined && signsInWith.length === 0) return new VersionedAnswer(user.version, body)
  const text = JSON.stringify([state, signsInWith, lastSeenAt])
  return new VersionedAnswer(user.version, body, hash('sha1', text, 'base64url'))
}

/**
 * For a caller who is limited to regions: the ETag has no version, because that rises when the user gets or loses a region that the caller
 * does not see. Such a caller cannot write users, so it needs no version for If-Match.
 */
export function partialUserAnswer(user: UserRow, regionIds: readonly number[]): VersionedAnswer<Static<typeof User>> {
  const body = userView(user, regionIds)
  return new VersionedAnswer(0, body, hash('sha1', JSON.stringify(body), 'base64url'))
}

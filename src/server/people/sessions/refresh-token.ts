// Seals the refresh tokens of sessions, so that a copy of the database cannot be used at the provider.

import type { Secrets } from '../../core/secrets.ts'

/** The session that a token belongs to. */
interface TokenSession {
  readonly org: number
  readonly hash: Buffer
}

/** A token is bound to its session, so that it vouches for no other person. */
export const refreshTokenContext = ({ org, hash }: TokenSession) =>
  `refresh token of organisation ${org}, session ${hash.toString('hex')}`

export const sealRefreshToken = (secrets: Secrets, session: TokenSession, token: string): Buffer =>
  secrets.seal(token, refreshTokenContext(session))

export const openRefreshToken = (secrets: Secrets, session: TokenSession, sealed: Buffer): string =>
  secrets.unseal(sealed, refreshTokenContext(session))

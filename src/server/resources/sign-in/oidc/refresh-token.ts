// Seals the refresh tokens of sessions, so that a copy of the database cannot be used at the provider.

import type { Secrets } from '../../../core/secrets.ts'

const sealContext = (org: number) => `refresh token of organisation ${org}`

export const sealRefreshToken = (secrets: Secrets, org: number, token: string): Buffer =>
  secrets.seal(token, sealContext(org))

export const openRefreshToken = (secrets: Secrets, org: number, sealed: Buffer): string =>
  secrets.unseal(sealed, sealContext(org))

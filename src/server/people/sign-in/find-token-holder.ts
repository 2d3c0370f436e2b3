// Finds the caller that a key or a session belongs to, and has sessions of identity providers checked. [contract 11.oidc]
import type { TokenKind } from '../../auth/token.ts'
import type { TokenHolder } from '../../auth/token-holder.ts'
import type { Database } from '../../db/db.ts'
import { findHolder } from '../keys/store.ts'
import { findSessionHolder } from '../sessions/store.ts'
import { findUserSessionHolder } from '../sessions/user-session-store.ts'
import type { SessionChecks } from './oidc/session-check.ts'

const findByKind = { key: findHolder, session: findSessionHolder, userSession: findUserSessionHolder } as const

export const tokenHolderFinder =
  (db: Database, sessionChecks: SessionChecks) =>
  async (hash: Buffer, kind: TokenKind): Promise<TokenHolder | undefined> => {
    const holder = await findByKind[kind](db.system, hash)
    const checked = holder && sessionChecks.recheck(holder)
    if (!(checked instanceof Promise)) return checked
    // Role, regions and state may have changed while the provider was asked.
    return (await checked) ? findByKind[kind](db.system, hash) : undefined
  }

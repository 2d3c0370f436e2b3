// Starts and ends sessions of the console, and makes sign-in links. [contract 9.session] [contract 9.link]

import { minuteMs } from '../../../contract/durations.ts'
import { sessionEnded, signInFirst } from '../../auth/failures.ts'
import type { Caller } from '../../auth/keyring.ts'
import { isSignInLinkSecret, makeSessionSecret, makeSignInLinkSecret, tokenHash } from '../../auth/token.ts'
import type { KeyHolder } from '../../auth/token-holder.ts'
import { contextOf, type RequestContext, type RequestOrigin } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { isoTime } from '../../core/clock.ts'
import { Failure, mustFind } from '../../core/failure.ts'
import type { Tx } from '../../db/handles.ts'
import { change } from '../../journal/audit/change.ts'
import { auditRef } from '../../journal/audit/change-result.ts'
import { findKey, type KeyRow, listKeys } from '../keys/store.ts'
import { deleteLink, deleteSession, deleteSurplusSessions, findLinkHolder, insertLink, insertSession } from './store.ts'
import { deleteUserSessionByHash } from './user-session-store.ts'

/** More concurrent sessions of one key than this do not come from people. */
const maxSessionsPerKey = 1000
const linkLifetimeMs = 15 * minuteMs

/** Starts a session for a key that the caller presented, and returns the secret of the session. */
export function sessionStart(services: Services, holder: KeyHolder, origin: RequestOrigin): Promise<string> {
  return startSession(services, holder, origin, 'key', async () => {})
}

/** Finds the key that a link signs in with. This does not use up the link. */
export async function linkHolder(services: Services, link: string): Promise<KeyHolder | undefined> {
  if (!isSignInLinkSecret(link)) return undefined
  return findLinkHolder(services.db.system, tokenHash(link), services.clock.now())
}

/** Starts a session with a link. A link works once, also when several callers try it at the same time. */
export function sessionStartByLink(
  services: Services,
  holder: KeyHolder,
  link: string,
  origin: RequestOrigin,
): Promise<string> {
  return startSession(services, holder, origin, 'link', async (tx) => {
    if (!(await deleteLink(tx, { hash: tokenHash(link) }))) throw badLink()
  })
}

export const badLink = (): Failure =>
  signInFirst(
    'This sign-in link does not work: it was used already, is older than 15 minutes, or was not copied whole. Make another one with "roomkeeper login-link".',
  )

async function startSession(
  services: Services,
  holder: KeyHolder,
  origin: RequestOrigin,
  via: 'key' | 'link',
  verify: (tx: Tx) => Promise<void>,
): Promise<string> {
  if (!holder.permissions.read) {
    throw new Failure(
      'PERMISSION_DENIED',
      `The key "${holder.key.name}" lacks the scope read, and the console shows what it reads. Sign in with a key that has it.`,
    )
  }
  const secret = makeSessionSecret()
  await change(contextOf(services, holder, origin), 'sessionStart', async (tx) => {
    await verify(tx)
    if (!(await findKey(tx, { id: holder.key.id }))) {
      throw signInFirst('This key was revoked a moment ago. Sign in with another one.')
    }
    const now = services.clock.now()
    await insertSession(tx, { hash: tokenHash(secret), key_id: holder.key.id, created_at: now, used_at: now })
    await deleteSurplusSessions(tx, { key: holder.key.id, max: maxSessionsPerKey })
    return { result: undefined, target: auditRef('key', holder.key), after: { via } }
  })
  return secret
}

/** Ends the session of this caller. A session that has ended already is no error. */
export async function sessionEnd(services: Services, caller: Caller, origin: RequestOrigin): Promise<void> {
  const { session, key, user } = caller
  if (!session) return
  const isOfPerson = user !== undefined && key === undefined
  const alreadyEnded = sessionEnded()
  try {
    await change(contextOf(services, caller, origin), 'sessionEnd', async (tx) => {
      const { hash } = session
      if (!(await (isOfPerson ? deleteUserSessionByHash(tx, { hash }) : deleteSession(tx, { hash }))))
        throw alreadyEnded
      return { result: undefined, target: key ? auditRef('key', key) : auditRef('user', caller.actor) }
    })
  } catch (error) {
    if (error !== alreadyEnded) throw error
  }
  services.keysChanged()
}

interface LoginLink {
  readonly secret: string
  readonly key: KeyRow
  readonly expiresAt: string
}

/** Makes a link for the given key, or for the first key with all permissions. */
export async function loginLinkCreate(ctx: RequestContext, keyId?: number): Promise<LoginLink> {
  const now = ctx.clock.now()
  const isCurrent = (key: KeyRow) => key.expires_at === null || key.expires_at > now
  const secret = makeSignInLinkSecret()
  return change(ctx, 'loginLinkCreate', async (tx) => {
    const key =
      keyId === undefined
        ? await requireFullKey(tx, isCurrent)
        : mustFind(await findKey(tx, { id: keyId }), `key ${keyId}`)
    if (key.user_id !== null) {
      throw new Failure(
        'FAILED_PRECONDITION',
        `key ${key.id} belongs to a person. Make a link for them with "login-link --user EMAIL", or choose another key.`,
      )
    }
    if (key.read !== 1 || !isCurrent(key)) {
      const why = key.read === 1 ? 'has expired' : 'lacks the scope read'
      throw new Failure(
        'FAILED_PRECONDITION',
        `key ${key.id} ${why}, so it cannot be used to sign in. Choose another key.`,
      )
    }
    const expires_at = now + linkLifetimeMs
    await insertLink(tx, { hash: tokenHash(secret), key_id: key.id, expires_at })
    const expiresAt = isoTime(expires_at)
    return { result: { secret, key, expiresAt }, target: auditRef('key', key), after: { expiresAt } }
  })
}

/** A personal key is not full: it ends with its person. */
const isFull = ({ read, write, manage, user_id }: KeyRow): boolean =>
  read === 1 && write === 1 && manage === 1 && user_id === null

async function requireFullKey(tx: Tx, isCurrent: (key: KeyRow) => boolean): Promise<KeyRow> {
  const keys = await listKeys(tx)
  const key = keys.find((key) => isFull(key) && isCurrent(key))
  if (key) return key
  throw new Failure(
    'FAILED_PRECONDITION',
    'no key of this organisation can read, write and manage. Name one that can read with --key, or create one with "keys create".',
  )
}

// Signing in to the console and out of it, and the links that let somebody in without typing a key. [contract 9.session] [contract 9.link]

import type { Caller, KeyHolder } from '../../auth/keyring.ts'
import { isSignInLinkSecret, makeSessionSecret, makeSignInLinkSecret, tokenHash } from '../../auth/token.ts'
import { contextOf, type RequestContext, type RequestOrigin } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { isoTime } from '../../core/clock.ts'
import { Failure, mustFind } from '../../core/failure.ts'
import type { Tx } from '../../db/handles.ts'
import { sessionEnded, signInFirst } from '../../http/session-cookie.ts'
import { auditRef, change } from '../audit/change.ts'
import { findKey, type KeyRow, listKeys } from '../keys/store.ts'
import { deleteLink, deleteSession, deleteSurplus, findLinkHolder, insertLink, insertSession } from './store.ts'

/** More at once are not people. */
const mostSessions = 1000
/** How long a link lets somebody in, in milliseconds. */
const linkLife = 15 * 60_000

/** Starts a session for whoever has shown a key; gives back its secret. */
export function sessionStart(services: Services, holder: KeyHolder, asked: RequestOrigin): Promise<string> {
  return start(services, holder, asked, 'key', async () => {})
}

/** Whom a link lets in. It is not used up by asking. */
export async function linkHolder(services: Services, link: string): Promise<KeyHolder | undefined> {
  if (!isSignInLinkSecret(link)) return undefined
  return findLinkHolder(services.db.system, tokenHash(link), services.clock.now())
}

/** The same with a link, which lets in one of all who try. */
export function sessionStartByLink(
  services: Services,
  holder: KeyHolder,
  link: string,
  asked: RequestOrigin,
): Promise<string> {
  return start(services, holder, asked, 'link', async (tx) => {
    if (!(await deleteLink(tx, { hash: tokenHash(link) }))) throw badLink()
  })
}

export const badLink = (): Failure =>
  signInFirst(
    'This sign-in link does not work: it was used already, is older than 15 minutes, or was not copied whole. Make another one with "roomkeeper login-link".',
  )

async function start(
  services: Services,
  holder: KeyHolder,
  asked: RequestOrigin,
  via: 'key' | 'link',
  prove: (tx: Tx) => Promise<void>,
): Promise<string> {
  if (!holder.read) {
    throw new Failure(
      'PERMISSION_DENIED',
      `The key "${holder.name}" lacks the scope read, and the console shows what it reads. Sign in with a key that has it.`,
    )
  }
  const secret = makeSessionSecret()
  await change(contextOf(services, holder, asked), 'sessionStart', async (tx) => {
    await prove(tx)
    if (!(await findKey(tx, { id: holder.keyId }))) {
      throw signInFirst('This key was revoked a moment ago. Sign in with another one.')
    }
    const now = services.clock.now()
    await insertSession(tx, { hash: tokenHash(secret), key_id: holder.keyId, created_at: now, used_at: now })
    await deleteSurplus(tx, { key: holder.keyId, most: mostSessions })
    return { result: undefined, target: auditRef('key', { id: holder.keyId, name: holder.name }), after: { via } }
  })
  return secret
}

/** Ends the session of this caller; one that has ended meanwhile is as good. */
export async function sessionEnd(services: Services, caller: Caller, asked: RequestOrigin): Promise<void> {
  const { session } = caller
  if (!session) return
  const gone = sessionEnded()
  try {
    await change(contextOf(services, caller, asked), 'sessionEnd', async (tx) => {
      if (!(await deleteSession(tx, { hash: session.hash }))) throw gone
      return { result: undefined, target: auditRef('key', { id: caller.keyId, name: caller.name }) }
    })
  } catch (error) {
    if (error !== gone) throw error
  }
  services.keysChanged()
}

interface LoginLink {
  readonly secret: string
  readonly key: KeyRow
  readonly expiresAt: string
}

/** Makes a link for a key: the one that is named, or the first that can do everything. */
export async function loginLinkCreate(ctx: RequestContext, keyId?: number): Promise<LoginLink> {
  const now = ctx.clock.now()
  const isCurrent = (key: KeyRow) => key.expires_at === null || key.expires_at > now
  const secret = makeSignInLinkSecret()
  return change(ctx, 'loginLinkCreate', async (tx) => {
    const key =
      keyId === undefined
        ? await firstOfAll(tx, ctx, isCurrent)
        : mustFind(await findKey(tx, { id: keyId }), `key ${keyId}`)
    if (key.read !== 1 || !isCurrent(key)) {
      const why = key.read === 1 ? 'has expired' : 'lacks the scope read'
      throw new Failure(
        'FAILED_PRECONDITION',
        `key ${key.id} ${why}, so nobody can sign in with it. Choose another key.`,
      )
    }
    const expires_at = now + linkLife
    await insertLink(tx, { hash: tokenHash(secret), key_id: key.id, expires_at })
    const expiresAt = isoTime(expires_at)
    return { result: { secret, key, expiresAt }, target: auditRef('key', key), after: { expiresAt } }
  })
}

async function firstOfAll(tx: Tx, ctx: RequestContext, isCurrent: (key: KeyRow) => boolean): Promise<KeyRow> {
  const keys = await listKeys(tx)
  const key = keys.find((key) => key.read === 1 && key.write === 1 && key.manage === 1 && isCurrent(key))
  if (key) return key
  throw new Failure(
    'FAILED_PRECONDITION',
    'no key of this organisation can read, write and manage. Name one that can read with --key, or create one with "keys create".',
  )
}

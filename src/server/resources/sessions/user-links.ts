// Makes the links that sign people in, and starts sessions with them. [contract 11.local]

import { dayMs, minuteMs } from '../../../contract/durations.ts'
import { type Permission, permissionsOfRole, type Role } from '../../../contract/people/permissions.ts'
import { isUserLinkSecret, makeUserLinkSecret, tokenHash } from '../../auth/token.ts'
import { RequestContext, type RequestOrigin } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { isoTime } from '../../core/clock.ts'
import { Failure, invalid, mustFind } from '../../core/failure.ts'
import { RegionAccess } from '../../core/region-access.ts'
import { emailKey } from '../../core/text.ts'
import { nextId } from '../../db/queries/next-id.ts'
import { signInFirst } from '../../http/browser/session-cookie.ts'
import { refuseGrantBeyondOwn } from '../../http/grants.ts'
import { parseInt32 } from '../../http/input/input.ts'
import { change } from '../audit/change.ts'
import { auditRef } from '../audit/changed.ts'
import { findUserByEmail, hasActiveOwner, insertFirstOwner, updateInvited } from '../users/store.ts'
import {
  deleteLinksOfUser,
  deleteUserLink,
  findUserLink,
  findUserToInvite,
  insertUserLink,
  type UserLink,
  type UserLinkPurpose,
} from './user-link-store.ts'
import { type SignedInUser, signingIn, startUserSession } from './user-sessions.ts'

const lifetimeMs: Readonly<Record<UserLinkPurpose, number>> = {
  invite: 7 * dayMs,
  'sign-in': 15 * minuteMs,
  'first-owner': dayMs,
}

/** The secret is shown once, as the fragment of an address of the console. */
export interface NewUserLink {
  readonly secret: string
  readonly expiresAt: string
}

export const signInUrl = (base: string, secret: string): string => `${base}/sign-in#${secret}`

/** Makes a link with which a user signs in and adds a passkey. Earlier links of the user stop working. */
export const inviteUser = (ctx: RequestContext, userId: string): Promise<NewUserLink> =>
  change(ctx, 'usersInvite', async (tx) => {
    const id = parseInt32(userId)
    const user = mustFind(id === undefined ? undefined : await findUserToInvite(tx, { id }), `user ${userId}`)
    refuseDisabled(user)
    refuseMissingRights(ctx, user)
    const link = newLink(ctx, 'invite')
    await deleteLinksOfUser(tx, { user: user.id })
    await insertUserLink(tx, { ...link.row, user_id: user.id })
    await updateInvited(tx, { user: user.id, at: ctx.clock.now() })
    return {
      result: link.shown,
      target: auditRef('user', { id: user.id, name: user.email }),
      after: { expiresAt: link.shown.expiresAt },
    }
  })

export async function usersInvite(ctx: RequestContext, userId: string) {
  const { secret, expiresAt } = await inviteUser(ctx, userId)
  return { url: signInUrl(ctx.publicUrl, secret), expiresAt, mailed: false }
}

/** The way back in from the command line: a link for a user who may have lost every other way. */
export const userLoginLinkCreate = (ctx: RequestContext, email: string) =>
  change(ctx, 'loginLinkCreate', async (tx) => {
    const found = await findUserByEmail(tx, { key: emailKey(email) })
    const user = found && (await findUserToInvite(tx, { id: found.id }))
    if (!user) {
      throw new Failure('NOT_FOUND', `there is no user ${email}. Create one with "roomkeeper users invite ${email}".`)
    }
    refuseDisabled(user)
    const link = newLink(ctx, 'sign-in')
    await insertUserLink(tx, { ...link.row, user_id: user.id })
    return {
      result: { ...link.shown, user: { id: user.id, email: user.email, role: user.role } },
      target: auditRef('user', { id: user.id, name: user.email }),
      after: { expiresAt: link.shown.expiresAt },
    }
  })

/** Makes the link of the first start, whose user does not exist yet. */
export const firstOwnerLinkCreate = (ctx: RequestContext): Promise<NewUserLink> =>
  change(ctx, 'loginLinkCreate', async (tx) => {
    const link = newLink(ctx, 'first-owner')
    await insertUserLink(tx, { ...link.row, user_id: null })
    return {
      result: link.shown,
      target: auditRef('organisation', { id: ctx.org.id, name: ctx.org.id }),
      after: { makes: 'first owner', expiresAt: link.shown.expiresAt },
    }
  })

/** Finds a link by its secret. This does not use up the link. */
export async function findUserLinkOf(services: Services, secret: string): Promise<UserLink | undefined> {
  if (!isUserLinkSecret(secret)) return undefined
  return findUserLink(services.db.system, tokenHash(secret), services.clock.now())
}

export const badUserLink = (): Failure =>
  signInFirst(
    'This link does not work: it was used already, has expired, was replaced by a newer one, or was not copied whole. Ask an owner for another invitation, or run "roomkeeper login-link --user EMAIL" on the server.',
  )

interface LinkSignIn {
  /** The first owner's address; other links know theirs. */
  readonly email?: string | undefined
  readonly browser?: string | undefined
}

/** Starts a session with a link, and returns the secret of the session. A link works once, also when several callers try it at the same time. */
export async function sessionStartByUserLink(
  services: Services,
  link: UserLink,
  { email, browser }: LinkSignIn,
  origin: RequestOrigin,
): Promise<string> {
  const { org, hash, user } = link
  if (!user) {
    if (email === undefined) {
      throw invalid([{ field: 'email', error: 'is required, because this link makes the first owner' }])
    }
    const owner = await makeFirstOwner(services, link, email, origin)
    return startUserSession(signingIn(services, org, owner, origin), owner, { via: 'link', browser })
  }
  const person = { ...user, role: user.role as Role }
  return startUserSession(signingIn(services, org, person, origin), person, { via: 'link', browser }, async (tx) => {
    if (!(await deleteUserLink(tx, { hash }))) throw badUserLink()
  })
}

export const ownerExists = (): Failure =>
  signInFirst(
    'This link makes the first owner, and the organisation has an owner who has signed in. Ask the owner for an invitation, or run "roomkeeper login-link --user EMAIL" on the server.',
  )

/** Uses up the link of the first owner, in one transaction with the user that it makes. */
function makeFirstOwner(
  services: Services,
  { org, hash }: UserLink,
  email: string,
  origin: RequestOrigin,
): Promise<SignedInUser> {
  const actor = { type: 'SYSTEM', id: 'first-owner-link', name: 'Link of the first owner' } as const
  const ctx = new RequestContext(services, { org, actor, may: () => true, access: RegionAccess.everything }, origin)
  return change(ctx, 'usersCreate', async (tx) => {
    if (await hasActiveOwner(tx)) throw ownerExists()
    if (!(await deleteUserLink(tx, { hash }))) throw badUserLink()
    const taken = await findUserByEmail(tx, { key: emailKey(email) })
    if (taken) {
      throw new Failure(
        'FAILED_PRECONDITION',
        `user ${taken.id} already has the address ${email}. Enter another one, or run "roomkeeper login-link --user ${email}" on the server.`,
      )
    }
    const user = { id: await nextId(tx, 'user'), email, role: 'owner' as const }
    await insertFirstOwner(tx, { ...user, email_key: emailKey(email), at: ctx.clock.now() })
    return {
      result: user,
      target: auditRef('user', { id: user.id, name: email }),
      after: { email, role: user.role, regionIds: [] },
    }
  })
}

function newLink(ctx: RequestContext, purpose: UserLinkPurpose) {
  const secret = makeUserLinkSecret()
  const expires_at = ctx.clock.now() + lifetimeMs[purpose]
  return { row: { hash: tokenHash(secret), purpose, expires_at }, shown: { secret, expiresAt: isoTime(expires_at) } }
}

function refuseDisabled({ email, state }: { email: string; state: string }): void {
  if (state !== 'DISABLED') return
  throw new Failure('FAILED_PRECONDITION', `${email} is disabled. Set the state of the user to ACTIVE first.`)
}

/** A link lets its holder act as the user, so it is not made for a user who may do more than the caller. [contract 11.user] */
function refuseMissingRights(ctx: RequestContext, user: { role: string; all_regions: number }): void {
  const rights = permissionsOfRole(user.role as Role, user.all_regions === 1)
  const permissions = (Object.keys(rights) as Permission[]).filter((name) => rights[name])
  refuseGrantBeyondOwn(ctx, permissions, RegionAccess.of([]))
}

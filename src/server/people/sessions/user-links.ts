// Makes the links that sign people in, and starts sessions with them. [contract 11.local]

import { dayMs, minuteMs } from '../../../contract/durations.ts'
import { permissionNames, permissionsOfRole, type Role } from '../../../contract/people/permissions.ts'
import { emailKey } from '../../../contract/text.ts'
import { signInFirst } from '../../auth/failures.ts'
import { isUserLinkSecret, makeUserLinkSecret, tokenHash } from '../../auth/token.ts'
import { refuseGrantBeyondOwn } from '../../context/grants.ts'
import { type RequestContext, type RequestOrigin, unrestrictedContext } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { isoTime } from '../../core/clock.ts'
import { Failure, invalid, mustFind } from '../../core/failure.ts'
import { parseInt32 } from '../../core/int32.ts'
import { RegionAccess } from '../../core/region-access.ts'
import { nextId } from '../../db/queries/next-id.ts'
import { change } from '../../journal/audit/change.ts'
import { auditRef } from '../../journal/audit/change-result.ts'
import { findUserByEmail, hasActiveOwner, insertUser, updateInvited } from '../users/store.ts'
import {
  assignUserLink,
  deleteLinksOfUser,
  deleteUserLink,
  findUserLink,
  findUserToInvite,
  insertUserLink,
  type UserLink,
  type UserLinkPurpose,
} from './user-link-store.ts'
import { type SignedInUser, signInContext, startUserSession } from './user-sessions.ts'

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

interface MailableLink extends NewUserLink {
  readonly email: string
}

export const signInUrl = (base: string, secret: string): string => `${base}/sign-in#${secret}`

/** Makes a link with which a user signs in and adds a passkey. Earlier links of the user stop working. */
export const inviteUser = (ctx: RequestContext, userId: string): Promise<MailableLink> =>
  change(ctx, 'usersInvite', async (tx) => {
    const id = parseInt32(userId)
    const user = mustFind(id === undefined ? undefined : await findUserToInvite(tx, { id }), `user ${userId}`)
    refuseDisabled(user)
    refuseLinkBeyondOwn(ctx, user)
    const link = newLink(ctx, 'invite')
    await deleteLinksOfUser(tx, { user: user.id })
    await insertUserLink(tx, { ...link.row, user_id: user.id })
    await updateInvited(tx, { user: user.id, at: ctx.clock.now() })
    return {
      result: { ...link.shown, email: user.email },
      target: auditRef('user', { id: user.id, name: user.email }),
      after: { expiresAt: link.shown.expiresAt },
    }
  })

/** The answer has the link in any case: a mail may be refused, or get lost. */
export async function usersInvite(ctx: RequestContext, userId: string) {
  const { secret, expiresAt, email } = await inviteUser(ctx, userId)
  const url = signInUrl(ctx.publicUrl, secret)
  const mail = {
    to: [email],
    subject: 'Your invitation to Roomkeeper',
    text: `You are invited to Roomkeeper. Open this link to sign in. It works once, until ${expiresAt}:\n\n${url}\n`,
  }
  // A person waits for the answer, so the mail of a link has less time than others.
  const sent = await ctx.mailer?.send(mail, AbortSignal.timeout(ctx.limits.inviteMailMs))
  return { url, expiresAt, mailed: sent?.isDelivered === true }
}

/** The way back in from the command line: a link for a user who may have lost every other way. */
export const userLoginLinkCreate = (ctx: RequestContext, email: string) =>
  change(ctx, 'loginLinkCreate', async (tx) => {
    const user = await findUserByEmail(tx, { key: emailKey(email) })
    if (!user) {
      throw new Failure(
        'NOT_FOUND',
        `there is no user ${email}. Create one with "roomkeeper users invite ${email} --role ROLE".`,
      )
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
export async function findUserLinkBySecret(services: Services, secret: string): Promise<UserLink | undefined> {
  if (!isUserLinkSecret(secret)) return undefined
  return findUserLink(services.db.system, tokenHash(secret), services.clock.now())
}

export const badUserLink = (): Failure =>
  signInFirst(
    'This link does not work: it was used already, has expired, was replaced by a newer one, or was not copied whole. Ask an owner for a new sign-in link, or run "roomkeeper login-link --user EMAIL" on the server.',
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
  const { org, hash } = link
  const user = await userOfLink(services, link, email, origin)
  return startUserSession(signInContext(services, org, user, origin), user, { via: 'link', browser }, async (tx) => {
    if (!(await deleteUserLink(tx, { hash }))) throw badUserLink()
  })
}

/** The link of the first owner makes its user. If the session then fails to start, the link works again, for that user. */
async function userOfLink(
  services: Services,
  link: UserLink,
  email: string | undefined,
  origin: RequestOrigin,
): Promise<SignedInUser> {
  const { user, purpose } = link
  if (!user) {
    if (email === undefined) {
      throw invalid([{ field: 'email', error: 'is required, because this link makes the first owner' }])
    }
    return makeFirstOwner(services, link, email, origin)
  }
  const isOther = email !== undefined && emailKey(email) !== emailKey(user.email)
  if (purpose === 'first-owner' && isOther) throw ownerExists()
  return { ...user, role: user.role as Role }
}

export const ownerExists = (): Failure =>
  signInFirst(
    'This link makes the first owner, and the organisation has an owner who has signed in. Ask the owner for a sign-in link, or run "roomkeeper login-link --user EMAIL" on the server.',
  )

/** Gives the link to the user that it makes, in one transaction. */
function makeFirstOwner(
  services: Services,
  { org, hash }: UserLink,
  email: string,
  origin: RequestOrigin,
): Promise<SignedInUser> {
  const actor = { type: 'SYSTEM', id: 'first-owner-link', name: 'Link of the first owner' } as const
  const ctx = unrestrictedContext(services, org, actor, origin)
  return change(ctx, 'usersCreate', async (tx) => {
    if (await hasActiveOwner(tx)) throw ownerExists()
    const taken = await findUserByEmail(tx, { key: emailKey(email) })
    if (taken) {
      throw new Failure(
        'FAILED_PRECONDITION',
        `user ${taken.id} already has the address ${email}. Enter another one, or run "roomkeeper login-link --user ${email}" on the server.`,
      )
    }
    const user = { id: await nextId(tx, 'user'), email, role: 'owner' as const }
    await insertUser(tx, {
      ...user,
      email_key: emailKey(email),
      name: null,
      all_regions: 0,
      state: 'ACTIVE',
      invited_at: ctx.clock.now(),
    })
    if (!(await assignUserLink(tx, { hash, user: user.id }))) throw badUserLink()
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
  throw new Failure('FAILED_PRECONDITION', `${email} is disabled. Enable the user first.`)
}

/** A link lets its holder act as the user, so it is not made for a user who may do more than the caller. [contract 11.user] */
function refuseLinkBeyondOwn(ctx: RequestContext, user: { role: string; all_regions: number }): void {
  const permissions = permissionNames(permissionsOfRole(user.role as Role, user.all_regions === 1))
  refuseGrantBeyondOwn(ctx, permissions, RegionAccess.nothing)
}

// Carries out the operations on users, one function for each. [contract 11.user] [contract 6.users]

import { permissionNames, permissionsOfRole, type Role } from '../../../contract/people/permissions.ts'
import { emailKey } from '../../../contract/text.ts'
import { refuseGrantBeyondOwn } from '../../context/grants.ts'
import type { InputOf } from '../../context/handlers.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { Failure, mustFind } from '../../core/failure.ts'
import { parseInt32 } from '../../core/int32.ts'
import { RegionAccess } from '../../core/region-access.ts'
import type { OrgReader, Tx } from '../../db/handles.ts'
import { nextId } from '../../db/queries/next-id.ts'
import type { ForgetPlace } from '../../fleet/deleted-place.ts'
import { requireRegions } from '../../fleet/regions/requested-regions.ts'
import { change } from '../../journal/audit/change.ts'
import { auditRef } from '../../journal/audit/change-result.ts'
import { raiseResourceVersions } from '../../journal/places/versions.ts'
import { deleteKeysOfUser } from '../keys/store.ts'
import { deleteLinksOfUser } from '../sessions/user-link-store.ts'
import { endSessions } from './end-sessions.ts'
import { auditedUser, userValues } from './fields.ts'
import { requireAnotherOwner, requireAnotherOwnerWhoSignsIn } from './owners.ts'
import {
  deleteRegionOfUsers,
  deleteUser,
  findUser,
  findUserByEmail,
  insertUser,
  listRegionsOfUser,
  listRegionsOfUsers,
  listUsers,
  type UserRow,
  updateRegionsOfUser,
  updateUser,
} from './store.ts'
import { partialUserAnswer, userAnswer, userView } from './view.ts'

export async function usersList(ctx: RequestContext) {
  const { db } = ctx
  const users = await listUsers(db)
  const regions = Map.groupBy(await listRegionsOfUsers(db), (r) => r.user_id)
  return {
    users: users.map((user) =>
      userView(
        user,
        (regions.get(user.id) ?? []).map((r) => r.region_id),
      ),
    ),
  }
}

export async function usersGet(ctx: RequestContext, userId: string) {
  const user = await requireUser(ctx.db, userId)
  return ctx.access.isEverything ? userAnswer(user, user.regionIds) : partialUserAnswer(user, user.regionIds)
}

export const usersCreate = (ctx: RequestContext, body: InputOf<'usersCreate'>['body']) =>
  change(ctx, 'usersCreate', async (tx) => {
    const regionIds = await requireRegions(tx, body.regionIds ?? [])
    const user: UserRow = {
      id: await nextId(tx, 'user'),
      version: 1,
      ...userValues(body),
      signed_in_at: null,
      last_seen_at: null,
      has_identity: 0,
      has_passkey: 0,
    }
    refuseGrant(ctx, undefined, { ...user, regionIds })
    await refuseTakenEmail(tx, body.email, undefined)
    await insertUser(tx, { ...user, email_key: emailKey(user.email), invited_at: ctx.clock.now() })
    await updateRegionsOfUser(tx, user.id, regionIds)
    return {
      result: userAnswer(user, regionIds),
      target: auditRef('user', { id: user.id, name: user.email }),
      after: auditedUser.all({ ...user, regionIds }),
    }
  })

export async function usersUpdate(ctx: RequestContext, userId: string, body: InputOf<'usersUpdate'>['body']) {
  const answer = await change(ctx, 'usersUpdate', async (tx) => {
    const before = await requireUser(tx, userId)
    checkIfMatch(ctx, before.version)
    const user = {
      ...before,
      version: before.version + 1,
      ...userValues(body, before),
      regionIds: body.regionIds ? await requireRegions(tx, body.regionIds) : before.regionIds,
    }
    refuseGrant(ctx, before, user)
    await refuseTakenEmail(tx, user.email, user.id)
    if (user.role !== 'owner') await requireAnotherOwner(tx, before, 'demoted')
    if (user.state === 'DISABLED') {
      await requireAnotherOwnerWhoSignsIn(tx, before, 'disabled')
      await endSessions(tx, user.id, { links: true })
    }
    // Links that went to the wrong address must not work.
    if (emailKey(before.email) !== emailKey(user.email)) await deleteLinksOfUser(tx, { user: user.id })
    await updateUser(tx, { ...user, email_key: emailKey(user.email) })
    await updateRegionsOfUser(tx, user.id, user.regionIds)
    return {
      result: userAnswer(user, user.regionIds),
      target: auditRef('user', { id: user.id, name: user.email }),
      ...auditedUser.change(before, user),
    }
  })
  ctx.keysChanged()
  return answer
}

export async function usersDelete(ctx: RequestContext, userId: string) {
  await change(ctx, 'usersDelete', async (tx) => {
    const user = await requireUser(tx, userId)
    checkIfMatch(ctx, user.version)
    await requireAnotherOwner(tx, user, 'deleted')
    const keys = await deleteKeysOfUser(tx, { user: user.id })
    await deleteUser(tx, { id: user.id })
    return {
      result: undefined,
      target: auditRef('user', { id: user.id, name: user.email }),
      before: auditedUser.all(user),
      affected: keys.map((key) => auditRef('key', key)),
    }
  })
  ctx.keysChanged()
  return {}
}

export type UserWithRegions = UserRow & { readonly regionIds: readonly number[] }

export async function requireUser(on: OrgReader, userId: string): Promise<UserWithRegions> {
  const id = parseInt32(userId)
  const user = mustFind(id === undefined ? undefined : await findUser(on, { id }), `user ${userId}`)
  return { ...user, regionIds: await listRegionsOfUser(on, user.id) }
}

/** An address belongs to one user of an organisation, ignoring case. [contract D.2] */
async function refuseTakenEmail(tx: Tx, email: string, ownId: number | undefined) {
  const holder = await findUserByEmail(tx, { key: emailKey(email) })
  if (!holder || holder.id === ownId) return
  throw new Failure(
    'FAILED_PRECONDITION',
    `user ${holder.id} already has the address ${email}. Change that user instead.`,
  )
}

/** Refuses a change that gives a person more than they had, if the caller lacks it. Another e-mail address is another person. */
function refuseGrant(ctx: RequestContext, before: UserWithRegions | undefined, after: UserWithRegions): void {
  const had = before && emailKey(before.email) === emailKey(after.email) ? grantsOf(before) : undefined
  const has = grantsOf(after)
  if (!has) return
  const gained = has.permissions.filter((permission) => !had?.permissions.includes(permission))
  refuseGrantBeyondOwn(ctx, gained, had?.access.includes(has.access) ? RegionAccess.nothing : has.access)
}

/** Undefined for a user who may not sign in. */
function grantsOf({ role, all_regions, state, regionIds }: UserWithRegions) {
  if (state === 'DISABLED') return undefined
  const isEverywhere = role === 'owner' || all_regions === 1
  return {
    permissions: permissionNames(permissionsOfRole(role as Role, all_regions === 1)),
    access: isEverywhere ? RegionAccess.everything : RegionAccess.of(regionIds),
  }
}

/** A user whose last region is deleted sees nothing. [contract D.3] */
export const removeRegionFromUsers: ForgetPlace = async (tx, { type, id }) => {
  if (type !== 'region') return []
  await raiseResourceVersions(tx, { usersOfRegion: [id] })
  const users = await deleteRegionOfUsers(tx, { region: id })
  return users.map((user) => auditRef('user', { id: user.id, name: user.email }))
}

// Carries out the operations on users, one function for each. [contract 5.4.user] [contract 6.users]

import type { Static } from 'typebox'
import type { Role } from '../../../contract/people/permissions.ts'
import type { User } from '../../../contract/people/users.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { Failure, invalid, mustFind } from '../../core/failure.ts'
import { emailKey } from '../../core/text.ts'
import type { OrgReader, Tx } from '../../db/handles.ts'
import { nextId } from '../../db/queries/next-id.ts'
import { VersionedAnswer } from '../../http/answer.ts'
import type { InputOf } from '../../http/handlers.ts'
import { parseInt32 } from '../../http/input/input.ts'
import { change } from '../audit/change.ts'
import { auditRef } from '../audit/changed.ts'
import { listRegions } from '../regions/store.ts'
import {
  deleteUser,
  findUser,
  findUserByEmail,
  hasOtherOwner,
  insertUser,
  listRegionsOfUser,
  listRegionsOfUsers,
  listUsers,
  updateRegionsOfUser,
  updateUser,
} from './store.ts'

export async function usersList(ctx: RequestContext) {
  const { db } = ctx
  const users = await listUsers(db)
  const regions = Map.groupBy(await listRegionsOfUsers(db), (r) => r.user_id)
  return {
    users: users.map((user) =>
      view(
        user,
        (regions.get(user.id) ?? []).map((r) => r.region_id),
      ),
    ),
  }
}

export async function usersGet(ctx: RequestContext, userId: string) {
  const user = await requireUser(ctx.db, userId)
  return new VersionedAnswer(user.version, view(user, user.regionIds))
}

export const usersCreate = (ctx: RequestContext, body: InputOf<'usersCreate'>['body']) =>
  change(ctx, 'usersCreate', async (tx) => {
    const regionIds = await requireRegions(tx, body.regionIds ?? [])
    await refuseTakenEmail(tx, body.email, undefined)
    const user = { id: await nextId(tx, 'user'), email: body.email, role: body.role }
    await insertUser(tx, user.id, { ...user, email_key: emailKey(user.email) })
    await updateRegionsOfUser(tx, user.id, regionIds)
    return {
      result: new VersionedAnswer(1, view(user, regionIds)),
      target: auditRef('user', { id: user.id, name: user.email }),
      after: { email: user.email, role: user.role, regionIds },
    }
  })

export const usersUpdate = (ctx: RequestContext, userId: string, body: InputOf<'usersUpdate'>['body']) =>
  change(ctx, 'usersUpdate', async (tx) => {
    const before = await requireUser(tx, userId)
    checkIfMatch(ctx, before.version)
    const regionIds = body.regionIds ? await requireRegions(tx, body.regionIds) : before.regionIds
    const user = { id: before.id, email: body.email ?? before.email, role: body.role ?? before.role }
    await refuseTakenEmail(tx, user.email, user.id)
    if (user.role !== 'owner') await requireAnotherOwner(tx, before, 'demoted')
    await updateUser(tx, user.id, { ...user, email_key: emailKey(user.email) })
    await updateRegionsOfUser(tx, user.id, regionIds)
    return {
      result: new VersionedAnswer(before.version + 1, view(user, regionIds)),
      target: auditRef('user', { id: user.id, name: user.email }),
      before: { email: before.email, role: before.role, regionIds: before.regionIds },
      after: { email: user.email, role: user.role, regionIds },
    }
  })

export const usersDelete = (ctx: RequestContext, userId: string) =>
  change(ctx, 'usersDelete', async (tx) => {
    const user = await requireUser(tx, userId)
    checkIfMatch(ctx, user.version)
    await requireAnotherOwner(tx, user, 'deleted')
    await deleteUser(tx, { id: user.id })
    return {
      result: {},
      target: auditRef('user', { id: user.id, name: user.email }),
      before: { email: user.email, role: user.role, regionIds: user.regionIds },
    }
  })

async function requireUser(on: OrgReader, userId: string) {
  const id = parseInt32(userId)
  const user = mustFind(id === undefined ? undefined : await findUser(on, { id }), `user ${userId}`)
  return { ...user, regionIds: await listRegionsOfUser(on, user.id) }
}

/** Returns the ids sorted and without duplicates. The failure names every id that does not exist. [contract 2.2] */
async function requireRegions(tx: Tx, ids: readonly number[]): Promise<number[]> {
  const known = new Set((await listRegions(tx)).map((r) => r.id))
  const unknown = ids.flatMap((id, i) =>
    known.has(id) ? [] : [{ field: `regionIds[${i}]`, error: `names region ${id}, which does not exist` }],
  )
  if (unknown.length > 0) throw invalid(unknown)
  return [...new Set(ids)].sort((a, b) => a - b)
}

/** An address belongs to one user of an organisation, ignoring case. [contract D.2] */
async function refuseTakenEmail(tx: Tx, email: string, ownId: number | undefined) {
  const holder = await findUserByEmail(tx, { key: emailKey(email) })
  if (!holder || holder.id === ownId) return
  throw new Failure(
    'FAILED_PRECONDITION',
    `user ${holder.id} already has the address ${email}. Change that one instead.`,
  )
}

/** An organisation always has an owner. [contract 5.4.user] */
async function requireAnotherOwner(tx: Tx, user: { id: number; role: string }, verb: string) {
  if (user.role !== 'owner' || (await hasOtherOwner(tx, { id: user.id }))) return
  throw new Failure('FAILED_PRECONDITION', `the last owner cannot be ${verb}. Make another user an owner first.`)
}

const view = (user: { id: number; email: string; role: string }, regionIds: number[]): Static<typeof User> => ({
  allRegions: false,
  state: 'INVITED',
  signsInWith: [],
  id: String(user.id),
  email: user.email,
  role: user.role as Role,
  regionIds,
})

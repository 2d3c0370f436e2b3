// Users: one function for each operation. [contract 5.4.user] [contract 6.users]
import type { Static } from 'typebox'
import type { User } from '../../../contract/users.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { By } from '../../context/request-context.ts'
import { Failure, found, invalid } from '../../core/failure.ts'
import type { Reader, Tx } from '../../db/db.ts'
import { nextId } from '../../db/next-id.ts'
import { Versioned } from '../../http/answer.ts'
import type { InputOf } from '../../http/handlers.ts'
import { parseInt32 } from '../../http/input.ts'
import { change, ref } from '../audit/change.ts'
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

export async function usersList(by: By) {
  const { db } = by.ground
  const users = await listUsers(db, by.org.key)
  const regions = Map.groupBy(await listRegionsOfUsers(db, by.org.key), (r) => r.user_id)
  return {
    users: users.map((user) =>
      view(
        user,
        (regions.get(user.id) ?? []).map((r) => r.region_id),
      ),
    ),
  }
}

export async function usersGet(by: By, userId: string) {
  const user = await existing(by.ground.db, by, userId)
  return new Versioned(user.version, view(user, user.regionIds))
}

export const usersCreate = (by: By, body: InputOf<'usersCreate'>['body']) =>
  change(by, 'usersCreate', async (tx) => {
    const regionIds = await knownRegions(tx, by, body.regionIds ?? [])
    await refuseTaken(tx, by, body.email, undefined)
    const user = { id: await nextId(tx, by.org.key, 'user'), email: body.email, role: body.role }
    await insertUser(tx, by.org.key, user.id, { ...user, email_key: emailKey(user.email) })
    await updateRegionsOfUser(tx, by.org.key, user.id, regionIds)
    return {
      result: new Versioned(1, view(user, regionIds)),
      target: ref('user', { id: user.id, name: user.email }),
      after: { email: user.email, role: user.role, regionIds },
    }
  })

export const usersUpdate = (by: By, userId: string, body: InputOf<'usersUpdate'>['body']) =>
  change(by, 'usersUpdate', async (tx) => {
    const before = await existing(tx, by, userId)
    checkIfMatch(by, before.version)
    const regionIds = body.regionIds ? await knownRegions(tx, by, body.regionIds) : before.regionIds
    const user = { id: before.id, email: body.email ?? before.email, role: body.role ?? before.role }
    await refuseTaken(tx, by, user.email, user.id)
    if (user.role !== 'owner') await keepAnOwner(tx, by, before, 'demoted')
    await updateUser(tx, by.org.key, user.id, { ...user, email_key: emailKey(user.email) })
    await updateRegionsOfUser(tx, by.org.key, user.id, regionIds)
    return {
      result: new Versioned(before.version + 1, view(user, regionIds)),
      target: ref('user', { id: user.id, name: user.email }),
      before: { email: before.email, role: before.role, regionIds: before.regionIds },
      after: { email: user.email, role: user.role, regionIds },
    }
  })

export const usersDelete = (by: By, userId: string) =>
  change(by, 'usersDelete', async (tx) => {
    const user = await existing(tx, by, userId)
    checkIfMatch(by, user.version)
    await keepAnOwner(tx, by, user, 'deleted')
    await deleteUser(tx, by.org.key, user.id)
    return {
      result: {},
      target: ref('user', { id: user.id, name: user.email }),
      before: { email: user.email, role: user.role, regionIds: user.regionIds },
    }
  })

async function existing(on: Reader, by: By, userId: string) {
  const id = parseInt32(userId)
  const user = found(id === undefined ? undefined : await findUser(on, by.org.key, id), `user ${userId}`)
  return { ...user, regionIds: await listRegionsOfUser(on, by.org.key, user.id) }
}

/** Each id once, in order; every one that does not exist is named. [contract 2.2] */
async function knownRegions(tx: Tx, by: By, ids: readonly number[]): Promise<number[]> {
  const known = new Set((await listRegions(tx, by.org.key)).map((r) => r.id))
  const unknown = ids.flatMap((id, i) =>
    known.has(id) ? [] : [{ field: `regionIds[${i}]`, error: `names region ${id}, which does not exist` }],
  )
  if (unknown.length > 0) throw invalid(unknown)
  return [...new Set(ids)].sort((a, b) => a - b)
}

const emailKey = (email: string) => email.normalize('NFC').toLowerCase()

/** [contract D.2] */
async function refuseTaken(tx: Tx, by: By, email: string, own: number | undefined) {
  const holder = await findUserByEmail(tx, by.org.key, emailKey(email))
  if (!holder || holder.id === own) return
  throw new Failure(
    'FAILED_PRECONDITION',
    `user ${holder.id} already has the address ${email}. Change that one instead.`,
  )
}

async function keepAnOwner(tx: Tx, by: By, user: { id: number; role: string }, verb: string) {
  if (user.role !== 'owner' || (await hasOtherOwner(tx, by.org.key, user.id))) return
  throw new Failure('FAILED_PRECONDITION', `the last owner cannot be ${verb}. Make somebody else an owner first.`)
}

const view = (user: { id: number; email: string; role: string }, regionIds: number[]): Static<typeof User> => ({
  id: String(user.id),
  email: user.email,
  role: user.role as 'owner' | 'admin',
  regionIds,
})

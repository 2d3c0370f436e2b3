// SQL of users and of the regions they look after.
import type { Reader, Tx } from '../../db/db.ts'
import { query, queryOne } from '../../db/query.ts'

type Key = { org: number; id: number }

const all = query((db, p: { org: number }) =>
  db.selectFrom('users').select(['id', 'email', 'role', 'version']).where('org', '=', p.org).orderBy('id'),
)
export const listUsers = (on: Reader, org: number) => all(on, { org })

const one = queryOne((db, p: Key) =>
  db.selectFrom('users').select(['id', 'email', 'role', 'version']).where('org', '=', p.org).where('id', '=', p.id),
)
export const findUser = (on: Reader, org: number, id: number) => one(on, { org, id })

const byEmail = queryOne((db, p: { org: number; key: string }) =>
  db.selectFrom('users').select('id').where('org', '=', p.org).where('email_key', '=', p.key),
)
export const findUserByEmail = (on: Reader, org: number, key: string) => byEmail(on, { org, key })

const otherOwner = queryOne((db, p: Key) =>
  db
    .selectFrom('users')
    .select('id')
    .where('org', '=', p.org)
    .where('role', '=', 'owner')
    .where('id', '!=', p.id)
    .limit(1),
)
export const hasOtherOwner = async (on: Reader, org: number, id: number) =>
  (await otherOwner(on, { org, id })) !== undefined

const regionsOfAll = query((db, p: { org: number }) =>
  db.selectFrom('user_regions').select(['user_id', 'region_id']).where('org', '=', p.org).orderBy('region_id'),
)
export const listRegionsOfUsers = (on: Reader, org: number) => regionsOfAll(on, { org })

const regionsOfOne = query((db, p: Key) =>
  db
    .selectFrom('user_regions')
    .select('region_id')
    .where('org', '=', p.org)
    .where('user_id', '=', p.id)
    .orderBy('region_id'),
)
export const listRegionsOfUser = async (on: Reader, org: number, id: number) =>
  (await regionsOfOne(on, { org, id })).map((r) => r.region_id)

interface Values {
  email: string
  email_key: string
  role: string
}

const insert = query((db, p: Key & Values) =>
  db
    .insertInto('users')
    .values({ org: p.org, id: p.id, version: 1, email: p.email, email_key: p.email_key, role: p.role }),
)
export const insertUser = (tx: Tx, org: number, id: number, values: Values) => insert(tx, { org, id, ...values })

const update = query((db, p: Key & Values) =>
  db
    .updateTable('users')
    .set((e) => ({ email: p.email, email_key: p.email_key, role: p.role, version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)
export const updateUser = (tx: Tx, org: number, id: number, values: Values) => update(tx, { org, id, ...values })

const clearRegions = query((db, p: Key) =>
  db.deleteFrom('user_regions').where('org', '=', p.org).where('user_id', '=', p.id),
)
const insertRegion = query((db, p: Key & { region: number }) =>
  db.insertInto('user_regions').values({ org: p.org, user_id: p.id, region_id: p.region }),
)
export async function updateRegionsOfUser(tx: Tx, org: number, id: number, regions: readonly number[]) {
  await clearRegions(tx, { org, id })
  for (const region of regions) await insertRegion(tx, { org, id, region })
}

const touch = query((db, p: { org: number; region: number }) =>
  db
    .updateTable('users')
    .set((e) => ({ version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('id', 'in', (q) =>
      q.selectFrom('user_regions').select('user_id').where('org', '=', p.org).where('region_id', '=', p.region),
    )
    .returning(['id', 'email']),
)
const free = query((db, p: { org: number; region: number }) =>
  db.deleteFrom('user_regions').where('org', '=', p.org).where('region_id', '=', p.region),
)
/** Takes a region away from everybody who looks after it. [contract D.3] */
export async function freeUsersOfRegion(tx: Tx, org: number, region: number) {
  const users = await touch(tx, { org, region })
  await free(tx, { org, region })
  return users
}

const remove = query((db, p: Key) => db.deleteFrom('users').where('org', '=', p.org).where('id', '=', p.id))
export const deleteUser = (tx: Tx, org: number, id: number) => remove(tx, { org, id })

// SQL of regions.
import type { Reader, Tx } from '../../db/db.ts'
import { query, queryOne } from '../../db/query.ts'

type Key = { org: number; id: number }

const all = query((db, p: { org: number }) =>
  db.selectFrom('regions').select(['id', 'name', 'version']).where('org', '=', p.org).orderBy('id'),
)
export const listRegions = (on: Reader, org: number) => all(on, { org })

const one = queryOne((db, p: Key) =>
  db.selectFrom('regions').select(['id', 'name', 'version']).where('org', '=', p.org).where('id', '=', p.id),
)
export const findRegion = (on: Reader, org: number, id: number) => one(on, { org, id })

const assigned = query((db, p: { org: number }) =>
  db
    .selectFrom('locations')
    .select(['id', 'name', 'region_id'])
    .where('org', '=', p.org)
    .where('region_id', 'is not', null)
    .orderBy('id'),
)
export const listAssignedLocations = (on: Reader, org: number) => assigned(on, { org })

const within = query((db, p: Key) =>
  db
    .selectFrom('locations')
    .select(['id', 'name'])
    .where('org', '=', p.org)
    .where('region_id', '=', p.id)
    .orderBy('id'),
)
export const listLocationsOf = (on: Reader, org: number, id: number) => within(on, { org, id })

const anyWithin = queryOne((db, p: Key) =>
  db.selectFrom('locations').select('id').where('org', '=', p.org).where('region_id', '=', p.id).limit(1),
)
export const hasLocation = async (on: Reader, org: number, id: number) =>
  (await anyWithin(on, { org, id })) !== undefined

const insert = query((db, p: Key & { name: string }) =>
  db.insertInto('regions').values({ org: p.org, id: p.id, name: p.name, version: 1 }),
)
export const insertRegion = (tx: Tx, org: number, id: number, name: string) => insert(tx, { org, id, name })

const update = query((db, p: Key & { name: string }) =>
  db
    .updateTable('regions')
    .set((e) => ({ name: p.name, version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)
export const updateRegion = (tx: Tx, org: number, id: number, name: string) => update(tx, { org, id, name })

const touch = query((db, p: Key) =>
  db
    .updateTable('regions')
    .set((e) => ({ version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)
/** A region shows its locations: its version moves with them. [contract D.9] */
export async function touchRegions(tx: Tx, org: number, ids: readonly (number | null | undefined)[]) {
  for (const id of new Set(ids)) if (id) await touch(tx, { org, id })
}

const remove = query((db, p: Key) => db.deleteFrom('regions').where('org', '=', p.org).where('id', '=', p.id))
export const deleteRegion = (tx: Tx, org: number, id: number) => remove(tx, { org, id })

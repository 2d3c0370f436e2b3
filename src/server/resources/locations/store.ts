// SQL of locations.
import type { Reader, Tx } from '../../db/db.ts'
import { query, queryOne } from '../../db/query.ts'

type Key = { org: number; id: number }

const all = query((db, p: { org: number }) =>
  db
    .selectFrom('locations as l')
    .leftJoin('regions as r', (j) => j.onRef('r.org', '=', 'l.org').onRef('r.id', '=', 'l.region_id'))
    .select(['l.id', 'l.name', 'l.region_id', 'r.name as region_name'])
    .where('l.org', '=', p.org)
    .orderBy('l.id'),
)
export const listLocations = (on: Reader, org: number) => all(on, { org })

const one = queryOne((db, p: Key) =>
  db
    .selectFrom('locations as l')
    .leftJoin('regions as r', (j) => j.onRef('r.org', '=', 'l.org').onRef('r.id', '=', 'l.region_id'))
    .select(['l.id', 'l.name', 'l.version', 'l.region_id', 'r.name as region_name'])
    .where('l.org', '=', p.org)
    .where('l.id', '=', p.id),
)
export const findLocation = (on: Reader, org: number, id: number) => one(on, { org, id })

interface Values {
  name: string
  region_id: number | null
}

const insert = query((db, p: Key & Values) =>
  db.insertInto('locations').values({ org: p.org, id: p.id, name: p.name, region_id: p.region_id, version: 1 }),
)
export const insertLocation = (tx: Tx, org: number, id: number, values: Values) => insert(tx, { org, id, ...values })

const update = query((db, p: Key & Values) =>
  db
    .updateTable('locations')
    .set((e) => ({ name: p.name, region_id: p.region_id, version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)
export const updateLocation = (tx: Tx, org: number, id: number, values: Values) => update(tx, { org, id, ...values })

const touch = query((db, p: { org: number; region: number }) =>
  db
    .updateTable('locations')
    .set((e) => ({ version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('region_id', '=', p.region),
)
/** A location shows the name of its region: its version moves with it. [contract D.9] */
export const touchLocationsOfRegion = (tx: Tx, org: number, region: number) => touch(tx, { org, region })

const remove = query((db, p: Key) => db.deleteFrom('locations').where('org', '=', p.org).where('id', '=', p.id))
export const deleteLocation = (tx: Tx, org: number, id: number) => remove(tx, { org, id })

// SQL of organisations.
import type { Reader, Tx } from '../../platform/db/db.ts'
import { query, queryOne } from '../../platform/db/query.ts'

const all = query((db, _: object) => db.selectFrom('orgs').select(['key', 'id', 'name', 'created_at']).orderBy('key'))
export const listOrgs = (on: Reader) => all(on, {})

const one = queryOne((db, p: { id: string }) =>
  db.selectFrom('orgs').select(['key', 'id', 'name']).where('id', '=', p.id),
)
export const findOrg = (on: Reader, id: string) => one(on, { id })

const insert = query((db, p: { id: string; name: string; at: number }) =>
  db.insertInto('orgs').values({ id: p.id, name: p.name, created_at: p.at }).returning('key'),
)
export async function insertOrg(tx: Tx, id: string, name: string, at: number): Promise<number> {
  const [row] = await insert(tx, { id, name, at })
  if (!row) throw new Error('the organisation got no number')
  return row.key
}

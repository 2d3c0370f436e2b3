// SQL of organisations.
import type { Reader, Tx } from '../../db/db.ts'
import { query, queryOne } from '../../db/query.ts'

const all = query((db, _: object) =>
  db.selectFrom('orgs').select(['key', 'id', 'name', 'created_at', 'timezone']).orderBy('key'),
)
export const listOrgs = (on: Reader) => all(on, {})

const one = queryOne((db, p: { id: string }) =>
  db.selectFrom('orgs').select(['key', 'id', 'name', 'timezone']).where('id', '=', p.id),
)
export const findOrg = (on: Reader, id: string) => one(on, { id })

const insert = query((db, p: { id: string; name: string; timezone: string; at: number }) =>
  db.insertInto('orgs').values({ id: p.id, name: p.name, timezone: p.timezone, created_at: p.at }).returning('key'),
)
export async function insertOrg(tx: Tx, id: string, name: string, timezone: string, at: number): Promise<number> {
  const [row] = await insert(tx, { id, name, timezone, at })
  if (!row) throw new Error('the organisation got no number')
  return row.key
}

const setTimezone = query((db, p: { key: number; timezone: string }) =>
  db.updateTable('orgs').set({ timezone: p.timezone }).where('key', '=', p.key),
)
export const updateTimezone = (tx: Tx, key: number, timezone: string) => setTimezone(tx, { key, timezone })

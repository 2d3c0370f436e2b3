// Holds the SQL of organisations.
import { queryOne, write } from '../../db/queries/query.ts'
import { type SystemTx, systemQuery, systemQueryOne, systemWriteOne } from '../../db/system.ts'

export const listOrgs = systemQuery((db, _: object) =>
  db.selectFrom('orgs').select(['key', 'id', 'name', 'created_at', 'timezone']).orderBy('key'),
)

export const findOrg = systemQueryOne((db, p: { id: string }) =>
  db.selectFrom('orgs').select(['key', 'id', 'name', 'timezone']).where('id', '=', p.id),
)

/** The organisation of the handle. */
export const findOwnOrg = queryOne((db, p: { org: number }) =>
  db.selectFrom('orgs').select(['name', 'timezone']).where('key', '=', p.org),
)

const insertRow = systemWriteOne((db, p: { id: string; name: string; timezone: string; at: number }) =>
  db.insertInto('orgs').values({ id: p.id, name: p.name, timezone: p.timezone, created_at: p.at }).returning('key'),
)
export async function insertOrg(tx: SystemTx, id: string, name: string, timezone: string, at: number): Promise<number> {
  const row = await insertRow(tx, { id, name, timezone, at })
  if (!row) throw new Error('the database returned no key for the new organisation')
  return row.key
}

export const updateTimezone = write((db, p: { org: number; timezone: string }) =>
  db.updateTable('orgs').set({ timezone: p.timezone }).where('key', '=', p.org),
)

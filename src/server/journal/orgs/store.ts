// Holds the SQL of organisations.
import { queryOne, write } from '../../db/queries/query.ts'
import { type SystemTx, systemQuery, systemQueryOne, systemWriteOne } from '../../db/system.ts'

export const listOrgs = systemQuery((db, _: object) =>
  db.selectFrom('orgs').select(['key', 'id', 'name', 'created_at', 'timezone', 'air_limits']).orderBy('key'),
)

export const findOrg = systemQueryOne((db, p: { id: string }) =>
  db.selectFrom('orgs').select(['key', 'id', 'name', 'timezone', 'air_limits']).where('id', '=', p.id),
)

/** The organisation of the handle. */
export const findOwnOrg = queryOne((db, p: { org: number }) =>
  db
    .selectFrom('orgs')
    .select(['id', 'version', 'name', 'timezone', 'air_limits', 'working_hours'])
    .where('key', '=', p.org),
)

interface NewOrg {
  id: string
  name: string
  timezone: string
  air_limits: string
  created_at: number
}

const insertRow = systemWriteOne((db, p: NewOrg) =>
  db
    .insertInto('orgs')
    .values({ id: p.id, name: p.name, timezone: p.timezone, air_limits: p.air_limits, created_at: p.created_at })
    .returning('key'),
)
export async function insertOrg(tx: SystemTx, org: NewOrg): Promise<number> {
  const row = await insertRow(tx, org)
  if (!row) throw new Error('the database returned no key for the new organisation')
  return row.key
}

interface OrgValues {
  version: number
  name: string
  timezone: string
  air_limits: string
  working_hours: string | null
}

export const updateOrg = write((db, p: OrgValues & { org: number }) =>
  db
    .updateTable('orgs')
    .set({
      version: p.version,
      name: p.name,
      timezone: p.timezone,
      air_limits: p.air_limits,
      working_hours: p.working_hours,
    })
    .where('key', '=', p.org),
)

// Holds the SQL of organisations.
import type { Selectable } from 'kysely'
import { pickColumns } from '../../db/queries/columns.ts'
import { queryOne, write } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { type SystemTx, systemQuery, systemQueryOne, systemWriteOne } from '../../db/system.ts'

/** The columns that people set. */
const orgFieldColumns = [
  'name',
  'timezone',
  'air_limits',
  'working_hours',
  'availability_target',
  'ignore_under_minutes',
] as const
export type OrgValues = Pick<Selectable<DatabaseSchema['orgs']>, (typeof orgFieldColumns)[number]>

export const listOrgs = systemQuery((db, _: object) =>
  db.selectFrom('orgs').select(['key', 'id', 'name', 'created_at', 'timezone', 'air_limits']).orderBy('key'),
)

export const findOrg = systemQueryOne((db, p: { id: string }) =>
  db.selectFrom('orgs').select(['key', 'id', 'name', 'created_at', 'timezone', 'air_limits']).where('id', '=', p.id),
)

/** The organisation of the handle. */
export const findOwnOrg = queryOne((db, p: { org: number }) =>
  db
    .selectFrom('orgs')
    .select(['id', 'version', ...orgFieldColumns])
    .where('key', '=', p.org),
)

interface NewOrg extends OrgValues {
  id: string
  created_at: number
}

const insertRow = systemWriteOne((db, p: NewOrg) =>
  db
    .insertInto('orgs')
    .values({ id: p.id, created_at: p.created_at, ...pickColumns(p, orgFieldColumns) })
    .returning('key'),
)
export async function insertOrg(tx: SystemTx, org: NewOrg): Promise<number> {
  const row = await insertRow(tx, org)
  if (!row) throw new Error('the database returned no key for the new organisation')
  return row.key
}

export const updateOrg = write((db, p: OrgValues & { org: number; version: number }) =>
  db
    .updateTable('orgs')
    .set({ version: p.version, ...pickColumns(p, orgFieldColumns) })
    .where('key', '=', p.org),
)

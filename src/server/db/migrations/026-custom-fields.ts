// External ids, custom fields, and what else people note about sites, rooms and endpoints. [contract 5.5]
import type { MigrationStatements } from './dialect.ts'

const tablesWithExternalIds = ['regions', 'locations', 'rooms', 'profiles', 'endpoints']

export const customFields: MigrationStatements = () => [
  ...tablesWithExternalIds.flatMap((table) => [
    `ALTER TABLE ${table} ADD COLUMN external_id TEXT`,
    `CREATE UNIQUE INDEX ${table}_external_id ON ${table} (org, external_id) WHERE external_id IS NOT NULL`,
  ]),
  'ALTER TABLE locations ADD COLUMN address TEXT',
  'ALTER TABLE locations ADD COLUMN contact TEXT',
  'ALTER TABLE rooms ADD COLUMN floor TEXT',
  'ALTER TABLE rooms ADD COLUMN contact TEXT',
  'ALTER TABLE rooms ADD COLUMN fields TEXT',
  'ALTER TABLE endpoints ADD COLUMN asset_tag TEXT',
  // Days, as 2026-03-02.
  'ALTER TABLE endpoints ADD COLUMN installed_on TEXT',
  'ALTER TABLE endpoints ADD COLUMN warranty_until TEXT',
  'ALTER TABLE endpoints ADD COLUMN fields TEXT',
]

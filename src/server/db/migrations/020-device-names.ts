// Names, notes and sleep of endpoints, as people set them. [contract 6.endpointsUpdate]
import type { MigrationStatements } from './dialect.ts'

export const deviceNames: MigrationStatements = () => [
  // The name that is shown: the given one, or else the one that the device reports.
  'ALTER TABLE endpoints ADD COLUMN name TEXT',
  'ALTER TABLE endpoints ADD COLUMN given_name TEXT',
  'ALTER TABLE endpoints ADD COLUMN note TEXT',
  'ALTER TABLE endpoints ADD COLUMN given_sleeps INTEGER',
]

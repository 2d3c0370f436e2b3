// Organisations say what availability their rooms should reach, and how short an outage may be to not count. [contract 6.orgs]
import type { MigrationStatements } from './dialect.ts'

export const availabilityTarget: MigrationStatements = () => [
  // In thousandths of a percent, which both databases store exactly.
  'ALTER TABLE orgs ADD COLUMN availability_target integer NOT NULL DEFAULT 99500',
  'ALTER TABLE orgs ADD COLUMN ignore_under_minutes integer NOT NULL DEFAULT 5',
]

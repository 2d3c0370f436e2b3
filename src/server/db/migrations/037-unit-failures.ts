// Why a unit of a job failed, which stays when the unit is rolled back. [contract 12.states]
import type { MigrationStatements } from './dialect.ts'

export const unitFailures: MigrationStatements = () => [
  'ALTER TABLE job_units ADD COLUMN failure text',
  `UPDATE job_units SET failure = coalesce(reason, '') WHERE state = 'FAILED'`,
  // Few units of a job fail, and they are listed before the others.
  'CREATE INDEX job_units_failure ON job_units (org, job_id, number) WHERE failure IS NOT NULL',
]

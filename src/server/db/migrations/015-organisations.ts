// Organisations have a version, air limits of their own, and working hours.
import type { MigrationStatements } from './dialect.ts'

/** The text of the option --air-limits; these are its defaults. */
const defaultAirLimits = 'co2=..1000,voc=..2000,temp=18..27,humidity=25..65'

export const organisations: MigrationStatements = () => [
  'ALTER TABLE orgs ADD COLUMN version integer NOT NULL DEFAULT 1',
  // A node of the version before creates organisations without naming these columns.
  `ALTER TABLE orgs ADD COLUMN air_limits text NOT NULL DEFAULT '${defaultAirLimits}'`,
  // JSON, null without working hours.
  'ALTER TABLE orgs ADD COLUMN working_hours text',
  `UPDATE orgs SET air_limits = (SELECT value FROM settings WHERE name = 'air-limits')
   WHERE EXISTS (SELECT 1 FROM settings WHERE name = 'air-limits')`,
]

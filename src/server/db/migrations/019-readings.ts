// The readings of a device get a column of their own: they change often, and lists do not show them. [contract 5.1.readings]
import type { MigrationStatements } from './dialect.ts'

export const readings: MigrationStatements = () => [
  `ALTER TABLE endpoints ADD COLUMN readings TEXT NOT NULL DEFAULT '{}'`,
]

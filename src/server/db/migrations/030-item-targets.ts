// The revision at which an item or a source was last to be tried: a gateway must not take a new name for a new password. [contract 13.items]
import type { MigrationStatements } from './dialect.ts'

export const itemTargets: MigrationStatements = () => [
  'ALTER TABLE gateway_devices ADD COLUMN target_revision integer NOT NULL DEFAULT 1',
  'UPDATE gateway_devices SET target_revision = revision',
  'ALTER TABLE sources ADD COLUMN target_revision integer NOT NULL DEFAULT 1',
]

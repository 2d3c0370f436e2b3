// Commands that switch devices on and off. [contract 8.operations]
import type { MigrationStatements } from './dialect.ts'

const check = `CHECK (type IN ('REBOOT', 'MESSAGE', 'COLLECT_LOGS', 'POWER'))`

export const power: MigrationStatements = ({ engine }) =>
  engine === 'postgres'
    ? [
        'ALTER TABLE operations DROP CONSTRAINT operations_type_check',
        `ALTER TABLE operations ADD CONSTRAINT operations_type_check ${check}`,
      ]
    : // SQLite cannot replace the check of a column, only the column with its check.
      [
        'ALTER TABLE operations RENAME COLUMN type TO old_type',
        `ALTER TABLE operations ADD COLUMN type text NOT NULL DEFAULT 'REBOOT' ${check}`,
        'UPDATE operations SET type = old_type',
        'ALTER TABLE operations DROP COLUMN old_type',
      ]

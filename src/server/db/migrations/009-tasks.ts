// The node that runs each scheduled task.
import type { MigrationStatements } from './dialect.ts'

export const tasks: MigrationStatements = (dialect) => [
  // A task that is shared out has a row for each part, such as an organisation; other tasks have one row, with part 0.
  `CREATE TABLE tasks (
    name text NOT NULL,
    part integer NOT NULL,
    node_id integer NOT NULL,
    PRIMARY KEY (name, part)
)${dialect.strictWithoutRowId}`,
]

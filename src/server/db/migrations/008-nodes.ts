// The processes that serve a database, and the one that each device is connected to.
import type { MigrationStatements } from './dialect.ts'

export const nodes: MigrationStatements = (dialect) => [
  // A row for each start of a server. Its id is never used again, also after the row was deleted.
  `CREATE TABLE nodes (
    id ${dialect.engine === 'sqlite' ? 'integer PRIMARY KEY AUTOINCREMENT' : `${dialect.identity} PRIMARY KEY`},
    name text NOT NULL,
    version text NOT NULL,
    process text NOT NULL,
    state text NOT NULL CHECK (state IN ('up', 'left', 'dead')),
    beats ${dialect.bigint} NOT NULL,
    changes ${dialect.bigint} NOT NULL,
    started_at ${dialect.bigint} NOT NULL,
    ended_at ${dialect.bigint}
)${dialect.strict}`,
  'ALTER TABLE endpoints ADD COLUMN node_id integer',
  `ALTER TABLE endpoints ADD COLUMN connection ${dialect.bigint} NOT NULL DEFAULT 0`,
  'CREATE INDEX endpoints_node ON endpoints (node_id) WHERE node_id IS NOT NULL',
  // The connection over which a command was first sent.
  `ALTER TABLE operations ADD COLUMN sent_connection ${dialect.bigint}`,
]

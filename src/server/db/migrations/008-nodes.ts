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
  // A crash of version 0.1 leaves rows that say connected. Their devices were disconnected at some time before now.
  `UPDATE endpoints SET connection_time = ${nowMs[dialect.engine]} WHERE connected = 1`,
  // Version 0.1 reads this column. It takes an exclusive lock on the database, so it never runs beside this version.
  'ALTER TABLE endpoints DROP COLUMN connected',
  // The node that the device is connected to, and the number of that connection. Numbers of an endpoint only grow.
  'ALTER TABLE endpoints ADD COLUMN node_id integer',
  `ALTER TABLE endpoints ADD COLUMN connection ${dialect.bigint} NOT NULL DEFAULT 0`,
  // The value of node_id before the device connected. Neither engine returns old values from an UPDATE.
  'ALTER TABLE endpoints ADD COLUMN previous_node_id integer',
  'CREATE INDEX endpoints_node ON endpoints (node_id, org, id) WHERE node_id IS NOT NULL',
  // The connections over which a command was first sent, and last sent.
  `ALTER TABLE operations ADD COLUMN sent_connection ${dialect.bigint}`,
  `ALTER TABLE operations ADD COLUMN told_connection ${dialect.bigint}`,
  // Commands that version 0.1 has sent were sent over an earlier connection than any that gets a number.
  `UPDATE operations SET sent_connection = 0, told_connection = 0
    WHERE state IN ('QUEUED', 'SENT', 'ACKNOWLEDGED') AND sent_at IS NOT NULL`,
]

const nowMs = {
  sqlite: "CAST(unixepoch('subsec') * 1000 AS integer)",
  postgres: '(extract(epoch FROM now()) * 1000)::bigint',
}

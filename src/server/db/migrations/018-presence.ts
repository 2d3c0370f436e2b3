// Since when a device is online, regardless of server restarts, and how long it counts as reconnecting after one. [contract 8.state]
import type { MigrationStatements } from './dialect.ts'

export const presence: MigrationStatements = (dialect) => [
  // Null for a device that connected before this migration: connection_time counts.
  `ALTER TABLE endpoints ADD COLUMN online_since ${dialect.bigint}`,
  // Set while a device that a server disconnected is away.
  `ALTER TABLE endpoints ADD COLUMN unknown_until ${dialect.bigint}`,
  'CREATE INDEX endpoints_unknown ON endpoints (unknown_until) WHERE unknown_until IS NOT NULL',
  // Set for spans that ended because a server stopped.
  `ALTER TABLE connection_spans ADD COLUMN unknown_until ${dialect.bigint}`,
]

// Until when a node is known to have run. The end of a node that crashed is known only when another node, or the next start, notices it. [contract 8.state]
import type { MigrationStatements } from './dialect.ts'

export const nodeSeen: MigrationStatements = (dialect) => [
  // Null for a node of an earlier version: its end counts.
  `ALTER TABLE nodes ADD COLUMN seen_at ${dialect.bigint}`,
]

// When the TLS certificate of each node expires, so that the node that looks for incidents knows of all of them.
import type { MigrationStatements } from './dialect.ts'

export const nodeCertificates: MigrationStatements = (dialect) => [
  // The column is null for a node without a certificate.
  `ALTER TABLE nodes ADD COLUMN certificate_expires_at ${dialect.bigint}`,
]

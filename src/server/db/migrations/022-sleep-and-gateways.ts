// Devices that leave the network while they sleep, and devices that are seen through a gateway. [contract 8.state]
import type { MigrationStatements } from './dialect.ts'

export const sleepAndGateways: MigrationStatements = (dialect) => [
  // The id of the endpoint that is the gateway of this one.
  'ALTER TABLE endpoints ADD COLUMN via TEXT',
  'CREATE INDEX endpoints_via ON endpoints (org, via) WHERE via IS NOT NULL',
  // Null: it does not sleep. AWAKE: it can sleep, and reported that it is on. RESTING: it can sleep, and may leave the network now.
  'ALTER TABLE endpoints ADD COLUMN rest TEXT',
  'CREATE INDEX endpoints_rest ON endpoints (org, connection_time) WHERE rest IS NOT NULL',
  // 1 while a device is away whose connection ended together with the one of its gateway.
  'ALTER TABLE endpoints ADD COLUMN left_with_gateway INTEGER NOT NULL DEFAULT 0',
  // When a device that is asleep had slept for too long, and went offline.
  `ALTER TABLE endpoints ADD COLUMN overslept_at ${dialect.bigint}`,
  // The state that followed the end of the connection, and what became of it. Null in spans of earlier versions.
  'ALTER TABLE connection_spans ADD COLUMN followed_by TEXT',
  'ALTER TABLE connection_spans ADD COLUMN rested INTEGER NOT NULL DEFAULT 0',
  `ALTER TABLE connection_spans ADD COLUMN overslept_at ${dialect.bigint}`,
  'ALTER TABLE connection_spans ADD COLUMN via TEXT',
]

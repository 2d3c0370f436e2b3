// Lists the objects that exist once in a running process.
import type { MessageBus } from '../bus/message-bus.ts'
import type { SensorSettings } from '../config/sensor-settings.ts'
import type { Clock } from '../core/clock.ts'
import type { Secrets } from '../core/secrets.ts'
import type { TimeLimits } from '../core/time-limits.ts'
import type { Database } from '../db/db.ts'
import type { EventPublisher } from '../events/publisher.ts'
import type { ReconnectTimes } from '../nodes/reconnect-times.ts'
import type { StrictReads } from '../nodes/strict-reads/strict-reads.ts'
import type { ThisNode } from '../nodes/this-node.ts'
import type { Mailer } from '../outbound/mailer.ts'
import type { ConnectedDevices } from './connected-devices.ts'

export interface Services {
  readonly db: Database
  /** Undefined in a command, which serves no requests and has no row of its own. */
  readonly node: ThisNode | undefined
  /** Messages between nodes. */
  readonly bus: MessageBus
  /** Caches ask it whether they contain the commits of all nodes. */
  readonly reads: StrictReads
  readonly secrets: Secrets
  readonly clock: Clock
  readonly limits: TimeLimits
  /** Must be called after keys or sessions changed, so that their caches are invalidated. */
  readonly keysChanged: () => void
  /** The devices that are connected, to this process or to another node. */
  readonly devices: ConnectedDevices
  readonly feed: EventPublisher
  /** The address at which people and devices reach the service. */
  readonly publicUrl: () => string
  /** Undefined if the operator has set no SMTP server. */
  readonly mailer: Mailer | undefined
  readonly settings: SensorSettings
  /** How long devices count as reconnecting after a server stopped. */
  readonly reconnects: ReconnectTimes
}

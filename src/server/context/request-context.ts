// Who does something, and the ground they stand on: the first argument of every rule.
import type { Scope } from '../../contract/operation.ts'
import type { KeyHolder, Org } from '../auth/keyring.ts'
import type { SensorSettings } from '../config/sensor-settings.ts'
import type { Clock } from '../core/clock.ts'
import type { Secrets } from '../core/secrets.ts'
import type { Database } from '../db/db.ts'
import type { EventPublisher } from '../events/feed.ts'
import type { ConnectedDevices } from './connected-devices.ts'

export interface Services {
  readonly db: Database
  readonly secrets: Secrets
  readonly clock: Clock
  /** To be called after keys changed, so that the change counts at once. */
  readonly keysChanged: () => void
  /** The devices that are connected to this process. */
  readonly devices: ConnectedDevices
  /** Whoever follows what happens. */
  readonly feed: EventPublisher
  /** How others reach the service. */
  readonly publicUrl: () => string
  readonly settings: SensorSettings
}

export interface Actor {
  readonly type: 'KEY' | 'DEVICE' | 'CLI' | 'SYSTEM'
  readonly id: string
  readonly name: string
}

export interface RequestContext {
  readonly services: Services
  readonly org: Org
  readonly actor: Actor
  /** What the actor has, and therefore can pass on. */
  readonly may: (what: Scope | 'manage') => boolean
  readonly requestId?: string | undefined
  readonly ip?: string | undefined
  readonly ifMatch?: string | undefined
}

/** What an actor's request says besides what it asks for. */
export type RequestOrigin = Pick<RequestContext, 'requestId' | 'ip' | 'ifMatch'>

/** Whoever shows a key, or the session that stands for it, acts as the key. [contract 9.session] */
export const contextOf = (services: Services, holder: KeyHolder, asked: RequestOrigin): RequestContext => ({
  services,
  org: holder.org,
  actor: { type: 'KEY', id: String(holder.keyId), name: holder.name },
  may: (what) => holder[what],
  ...asked,
})

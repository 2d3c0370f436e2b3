// Who does something, and the ground they stand on: the first argument of every rule.
import type { Scope } from '../contract/operation.ts'
import type { Org } from './auth/keyring.ts'
import type { Clock } from './clock.ts'
import type { Db } from './db/db.ts'
import type { Devices } from './devices.ts'
import type { Secrets } from './secrets.ts'
import type { SensorSettings } from './settings.ts'

export interface Ground {
  readonly db: Db
  readonly secrets: Secrets
  readonly clock: Clock
  /** To be called after keys changed, so that the change counts at once. */
  readonly keysChanged: () => void
  /** The devices that are connected to this process. */
  readonly devices: Devices
  /** How others reach the service. */
  readonly publicUrl: () => string
  readonly settings: SensorSettings
}

export interface Actor {
  readonly type: 'KEY' | 'DEVICE' | 'CLI' | 'SYSTEM'
  readonly id: string
  readonly name: string
}

export interface By {
  readonly ground: Ground
  readonly org: Org
  readonly actor: Actor
  /** What the actor has, and therefore can pass on. */
  readonly may: (what: Scope | 'manage') => boolean
  readonly requestId?: string | undefined
  readonly ip?: string | undefined
  readonly ifMatch?: string | undefined
}

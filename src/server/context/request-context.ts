// Defines the first argument of every rule: the actor, its organisation, and the services that it may use there.
import type { OperationId } from '../../contract/operations.ts'
import type { Permission, Role } from '../../contract/people/permissions.ts'
import type { Org, TokenHolder } from '../auth/token-holder.ts'
import type { SensorSettings } from '../config/sensor-settings.ts'
import type { Clock } from '../core/clock.ts'
import { RegionAccess } from '../core/region-access.ts'
import type { Secrets } from '../core/secrets.ts'
import type { TimeLimits } from '../core/time-limits.ts'
import type { OrgDatabase } from '../db/org-database.ts'
import type { OrgEventPublisher } from '../events/publisher.ts'
import type { PresenceTimes } from '../nodes/presence-sql.ts'
import type { Mailer } from '../outbound/mailer.ts'
import type { ConnectedDevices } from './connected-devices.ts'
import type { Services } from './services.ts'

export interface Actor {
  readonly type: 'KEY' | 'USER' | 'DEVICE' | 'CLI' | 'SYSTEM'
  readonly id: string
  readonly name: string
}

/** A request with an Idempotency-Key. [contract 7.once] */
export interface KeyedRequest {
  readonly operation: OperationId
  /** Hash of the caller and the key. */
  readonly id: Buffer
  /** Hash of what must be the same in a repeat: the rights of the caller, and the request. */
  readonly request: Buffer
}

/** The origin of a request, for the audit entry, and its headers If-Match and Idempotency-Key. */
export interface RequestOrigin {
  readonly requestId?: string | undefined
  readonly ip?: string | undefined
  readonly ifMatch?: string | undefined
  readonly keyed?: KeyedRequest | undefined
}

interface Identity {
  readonly org: Org
  readonly actor: Actor
  /** Returns whether the actor has a permission, and may therefore grant it. */
  readonly may: (permission: Permission) => boolean
  /** The regions that the actor sees. */
  readonly access: RegionAccess
  /** Set if the actor is a person. */
  readonly user?: { readonly id: number; readonly role: Role } | undefined
  /** Set if the request used a key. */
  readonly key?: { readonly id: number; readonly name: string } | undefined
}

/** The services are private, so that a rule can only use the database of its own organisation. */
export class RequestContext implements Identity, RequestOrigin {
  readonly #services: Services
  readonly org: Org
  readonly actor: Actor
  readonly may: Identity['may']
  readonly access: RegionAccess
  readonly user: Identity['user']
  readonly key: Identity['key']
  readonly requestId: string | undefined
  readonly ip: string | undefined
  readonly ifMatch: string | undefined
  readonly keyed: KeyedRequest | undefined

  constructor(services: Services, { org, actor, may, access, user, key }: Identity, origin: RequestOrigin = {}) {
    this.#services = services
    this.org = org
    this.actor = actor
    this.may = may
    this.access = access
    this.user = user
    this.key = key
    this.requestId = origin.requestId
    this.ip = origin.ip
    this.ifMatch = origin.ifMatch
    this.keyed = origin.keyed
  }

  /** The part of the organisation's database that the actor sees. */
  get db(): OrgDatabase {
    return this.#services.db.forOrg(this.org.key).seenBy(this.access)
  }

  get events(): OrgEventPublisher {
    return this.#services.feed.forOrg(this.org.key)
  }

  get secrets(): Secrets {
    return this.#services.secrets
  }

  get clock(): Clock {
    return this.#services.clock
  }

  get limits(): TimeLimits {
    return this.#services.limits
  }

  get devices(): ConnectedDevices {
    return this.#services.devices
  }

  get settings(): SensorSettings {
    return this.#services.settings
  }

  /** The times by which statements decide the state of endpoints. */
  get presenceTimes(): PresenceTimes {
    return this.#services.reconnects.current
  }

  get mailer(): Mailer | undefined {
    return this.#services.mailer
  }

  get publicUrl(): string {
    return this.#services.publicUrl()
  }

  keysChanged(): void {
    this.#services.keysChanged()
  }
}

/** For work that no caller's rights limit: that of the service itself, and that of the command line, which reaches the database anyway. */
export const unrestrictedContext = (
  services: Services,
  org: Org,
  actor: Actor,
  origin: RequestOrigin = {},
): RequestContext =>
  new RequestContext(services, { org, actor, may: () => true, access: RegionAccess.everything }, origin)

/** A request acts as the holder of its token. A session that was opened with a key acts as that key. [contract 9.session] */
export const contextOf = (services: Services, holder: TokenHolder, origin: RequestOrigin): RequestContext =>
  new RequestContext(
    services,
    {
      org: holder.org,
      actor: holder.actor,
      may: (permission) => holder.permissions[permission],
      access: holder.access,
      user: holder.user,
      key: holder.key,
    },
    origin,
  )

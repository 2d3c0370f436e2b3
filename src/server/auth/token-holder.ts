// The key or the person that a token stands for, and what they may do. [contract 11.user]
import { dayMs } from '../../contract/durations.ts'
import {
  type Permissions,
  permissionsOfBoth,
  permissionsOfKey,
  permissionsOfRole,
  type Role,
} from '../../contract/people/permissions.ts'
import { RegionAccess } from '../core/region-access.ts'

export interface Org {
  /** The organisation's number in the tables. */
  readonly key: number
  /** The organisation's name in paths. */
  readonly id: string
}

/** Why a personal key is refused although it is valid. [contract 11.oidc] */
export type PersonalKeyRefusal = 'not active' | 'idle'

/** A personal key is refused if its person did not sign in for this long. */
export const personalKeyIdleDays = 30

export interface TokenHolder {
  readonly org: Org
  /** The originator that audit entries name. A key of a person acts as that person. */
  readonly actor: { readonly type: 'KEY' | 'USER'; readonly id: string; readonly name: string }
  readonly permissions: Permissions
  readonly access: RegionAccess
  readonly expiresAt: number | null
  /** Requests a second for this key; null means the limit of --rate-limit. */
  readonly rateLimit: number | null
  /** Set if a key was used, directly or through a session that was opened with it. */
  readonly key: { readonly id: number; readonly name: string } | undefined
  /** Set if the caller is a person. */
  readonly user: { readonly id: number; readonly role: Role } | undefined
  /** Set for a personal key: the time from which it is refused, and why. It may work again when its person signs in. */
  readonly refusedFrom?: { readonly at: number; readonly reason: PersonalKeyRefusal }
  /** Set if the caller uses a session. [contract 9.session] */
  readonly session?: {
    readonly hash: Buffer
    readonly usedAt: number
    /** When the identity provider was last asked about the session; null or absent if it cannot be asked. */
    readonly checkedAt?: number | null
  }
}

/** Names the limits that callers share: all sessions of a key, and all sessions and keys of a person. */
export const limitKeyOf = ({ org, key, user }: TokenHolder): string =>
  user ? `${org.key}/user/${user.id}` : `${org.key}/key/${key?.id}`

/** A key with its organisation, and the person that it belongs to, as columns of the tables. */
export interface KeyHolderRow {
  readonly org: number
  readonly org_id: string
  readonly id: number
  readonly name: string
  readonly read: number
  readonly operate: number
  readonly write: number
  readonly manage: number
  readonly all_regions: number
  /** A JSON list. */
  readonly regions: string
  readonly expires_at: number | null
  readonly rate_limit: number | null
  readonly user_id: number | null
  readonly user_email: string | null
  readonly user_role: string | null
  readonly user_all_regions: number | null
  readonly user_state: string | null
  readonly user_signed_in_at: number | null
  /** A JSON list. */
  readonly user_regions: string
}

/** The holder of a key, directly or through a session of the key. */
export type KeyHolder = TokenHolder & { readonly key: { readonly id: number; readonly name: string } }

export function keyHolderOf(row: KeyHolderRow): KeyHolder {
  const allRegions = row.all_regions === 1
  const own = permissionsOfKey({
    read: row.read === 1,
    operate: row.operate === 1,
    write: row.write === 1,
    manage: row.manage === 1,
    allRegions,
  })
  const org = { key: row.org, id: row.org_id }
  const limits = { expiresAt: row.expires_at, rateLimit: row.rate_limit, key: { id: row.id, name: row.name } }
  if (row.user_id === null) {
    return {
      org,
      actor: { type: 'KEY', id: String(row.id), name: row.name },
      permissions: own,
      access: allRegions ? RegionAccess.everything : RegionAccess.of(JSON.parse(row.regions)),
      user: undefined,
      ...limits,
    }
  }
  const person = userFieldsOf({
    id: row.user_id,
    email: row.user_email ?? '',
    role: row.user_role ?? '',
    all_regions: row.user_all_regions ?? 0,
    regions: row.user_regions,
  })
  const permissions = permissionsOfBoth(own, person.permissions)
  return { org, ...person, permissions, refusedFrom: refusalOf(row), ...limits }
}

function refusalOf({ user_state, user_signed_in_at }: KeyHolderRow): NonNullable<TokenHolder['refusedFrom']> {
  if (user_state !== 'ACTIVE') return { at: Number.NEGATIVE_INFINITY, reason: 'not active' }
  return {
    at: (user_signed_in_at ?? Number.NEGATIVE_INFINITY) + personalKeyIdleDays * dayMs,
    reason: 'idle',
  }
}

interface PersonRow {
  readonly id: number
  readonly email: string
  readonly role: string
  readonly all_regions: number
  /** A JSON list. */
  readonly regions: string
}

/** Owners see everything, whatever their record says. [contract 11.user] */
export function userFieldsOf({ id, email, role: storedRole, all_regions, regions }: PersonRow) {
  const role = storedRole as Role
  const allRegions = role === 'owner' || all_regions === 1
  return {
    actor: { type: 'USER', id: String(id), name: email } as const,
    permissions: permissionsOfRole(role, allRegions),
    access: allRegions ? RegionAccess.everything : RegionAccess.of(JSON.parse(regions)),
    user: { id, role },
  }
}

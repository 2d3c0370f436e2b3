// The side of a plan that exists: the things of an organisation as they are, with their ids.
import type { OperationId } from '../contract/operations.ts'
import type { Permissions } from '../contract/people/permissions.ts'
import type { EnvSecret } from './document.ts'

/** Regions come before locations, and locations before rooms: the path of a thing starts at its parent. */
export const kinds = [
  'region',
  'profile',
  'location',
  'room',
  'endpoint',
  'gatewayDevice',
  'user',
  'incidentRule',
  'silence',
  'channel',
] as const
export type Kind = (typeof kinds)[number]

/** The identifier of a thing in the API. That of an incident rule is its name. */
export type Id = number | string

/** A thing that exists, or one that the plan makes for the entry at this JSON Pointer of the document. */
export type ThingRef = { readonly kind: Kind; readonly id: Id } | { readonly kind: Kind; readonly pointer: string }

export type ThingValue =
  | null
  | boolean
  | number
  | string
  | ThingRef
  | EnvSecret
  | readonly ThingValue[]
  | { readonly [name: string]: ThingValue }

/** The fields of a thing, named as in the document. A field that is not set is absent, or null where a step clears it. */
export type Values = Readonly<Record<string, ThingValue>>

export interface OrganisationThing {
  readonly kind: Kind
  readonly id: Id
  readonly values: Values
}

/** The endpoints that have a profile, as far as the caller sees them. */
export interface ProfileUse {
  readonly endpointCount: number
  /** Endpoints that have the profile, by room. */
  readonly endpointsByRoom: ReadonlyMap<number, number>
}

/** An organisation as a caller sees it at one time. */
export interface Snapshot {
  readonly organisation: string
  readonly permissions: Permissions
  readonly seesAllRegions: boolean
  readonly things: readonly OrganisationThing[]
  /** Kinds that the caller may not read, or does not see completely. */
  readonly hiddenKinds: readonly Kind[]
  /** The number of endpoints in each room that has some. */
  readonly endpointsByRoom: ReadonlyMap<number, number>
  readonly profileUses: ReadonlyMap<number, ProfileUse>
  /** E-mail addresses of owners, whom a document does not change. */
  readonly ownerEmails: readonly string[]
  /** Enrolled endpoints by serial number, and gateways by serial number and by name. Two gateways can have one name. */
  readonly gateways: readonly { readonly id: string; readonly serial: string; readonly name?: string | undefined }[]
}

export type StepOperation = Extract<
  OperationId,
  | 'regionsCreate'
  | 'regionsUpdate'
  | 'regionsDelete'
  | 'locationsCreate'
  | 'locationsUpdate'
  | 'locationsDelete'
  | 'roomsCreate'
  | 'roomsUpdate'
  | 'roomsAssignProfile'
  | 'roomsDelete'
  | 'profilesCreate'
  | 'profilesUpdate'
  | 'profilesDelete'
  | 'usersCreate'
  | 'usersUpdate'
  | 'incidentRulesUpdate'
  | 'silencesCreate'
  | 'silencesDelete'
  | 'channelsCreate'
  | 'channelsUpdate'
  | 'channelsDelete'
  | 'gatewayDevicesCreate'
  | 'gatewayDevicesUpdate'
  | 'gatewayDevicesDelete'
  | 'endpointsUpdate'
>

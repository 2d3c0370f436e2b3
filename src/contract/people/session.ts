// Signing in to the console: what a browser sends for a session, and what it learns. [contract 9.session]
import Type, { type Static } from 'typebox'
import type { AirLimits } from '../journal/orgs.ts'
import { Shape } from '../shape.ts'
import type { CallerScope, Role } from './permissions.ts'

/** An API key, or the secret of a sign-in link: one of the two. A link that makes the first owner needs their e-mail address too. */
export const SignIn = Shape('ConsoleSignIn', {
  key: Type.Optional(Type.String({ maxLength: 200 })),
  link: Type.Optional(Type.String({ maxLength: 200 })),
  email: Type.Optional(Type.String({ maxLength: 254, format: 'email-address' })),
})
export type SignIn = Static<typeof SignIn>

/** The signed-in caller and its permissions. */
export interface ConsoleSession {
  readonly org: {
    readonly id: string
    readonly name: string
    readonly timezone: string
    /** Time at which the organisation was made. */
    readonly createdAt: string
  }
  /** Set if the session was opened with an API key that is not personal. */
  readonly key?: { readonly id: string; readonly name: string }
  /** Set if the caller is a person. */
  readonly user?: { readonly id: string; readonly email: string; readonly name?: string; readonly role: Role }
  readonly scopes: readonly CallerScope[]
  readonly manage: boolean
  /** Whether the caller sees the whole organisation; if not, only what is in the regions. [contract 11.access] */
  readonly allRegions: boolean
  readonly regionIds: readonly number[]
  readonly airLimits: AirLimits
  /** An older sample of a device does not count for its room. [contract 5.2.aggregate] */
  readonly roomFreshnessSeconds: number
  /** The version of the server. A console of another version should reload. */
  readonly version: string
  /** The commit that the server was made of; absent if it is not known. */
  readonly commit?: string
}

/** The path of the session: GET reads it, POST signs in, DELETE signs out. */
export const sessionPath = '/console/session'

/** The paths that the console answers, each with all below it; the address of a page is the server's too. */
export const consolePages = [
  '/sign-in',
  '/incidents',
  '/rooms',
  '/devices',
  '/sites',
  '/profiles',
  '/jobs',
  '/audit',
  '/insights',
  '/wall',
  '/settings',
  '/account',
] as const

// The settings of the identity provider as the form edits them. [contract 11.oidc]
import type { Static } from 'typebox'
import type { BodyOf } from '../../../../contract/operation.ts'
import type { Operations } from '../../../../contract/operations.ts'
import type { Identity } from '../../../../contract/people/identity.ts'

export type IdentityAnswer = Static<typeof Identity>
export type IdentityChange = BodyOf<Operations['identityUpdate']>
export type RoleOfGroup = IdentityAnswer['groupRoles'][number]

export interface IdentityDraft {
  readonly issuer: string
  readonly clientId: string
  /** Empty: the stored secret stays. */
  readonly clientSecret: string
  readonly removesSecret: boolean
  readonly scopes: readonly string[]
  readonly groupsClaim: string
  readonly groupRoles: readonly RoleOfGroup[]
  readonly trustedDomains: readonly string[]
  readonly createUsers: boolean
}

export const draftOf = (settings: IdentityAnswer): IdentityDraft => ({
  issuer: settings.issuer ?? '',
  clientId: settings.clientId ?? '',
  clientSecret: '',
  removesSecret: false,
  scopes: settings.scopes,
  groupsClaim: settings.groupsClaim,
  groupRoles: settings.groupRoles,
  trustedDomains: settings.trustedDomains,
  createUsers: settings.createUsers,
})

export const isSameDraft = (a: IdentityDraft, b: IdentityDraft): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The server forgets the secret and all linked accounts when one of these changes. */
export const changesProvider = (before: IdentityDraft, after: IdentityDraft): boolean =>
  (before.issuer !== '' && before.issuer !== after.issuer.trim()) ||
  (before.clientId !== '' && before.clientId !== after.clientId.trim())

/** New settings are not tested, and the server keeps company accounts on only with tested ones. */
export const changeOf = (draft: IdentityDraft, isEnabled: boolean): IdentityChange => ({
  ...(isEnabled && { enabled: false }),
  issuer: draft.issuer.trim(),
  clientId: draft.clientId.trim(),
  ...(draft.clientSecret !== '' && { clientSecret: draft.clientSecret }),
  ...(draft.removesSecret && draft.clientSecret === '' && { clientSecret: null }),
  scopes: [...draft.scopes],
  groupsClaim: draft.groupsClaim.trim(),
  groupRoles: draft.groupRoles.map((row) => ({ ...row, group: row.group.trim() })),
  trustedDomains: [...draft.trustedDomains],
  createUsers: draft.createUsers,
})

/** Whether the server would take the draft; it says more about the fields that it refuses. */
export const isComplete = (draft: IdentityDraft): boolean =>
  draft.issuer.trim() !== '' &&
  draft.clientId.trim() !== '' &&
  draft.groupsClaim.trim() !== '' &&
  draft.groupRoles.every(({ group }) => group.trim() !== '')

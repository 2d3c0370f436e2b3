// Reads from the claims of a provider who has signed in.
import type { JsonObject } from 'openid-client'

export interface ProviderIdentity {
  readonly issuer: string
  /** The provider never gives a subject to another person. An e-mail address can change hands. */
  readonly subject: string
  readonly email?: string
  readonly emailVerified: boolean
  readonly name?: string
  readonly groups: readonly string[]
  /** The provider's session, which a back-channel logout may name. */
  readonly sid?: string
}

type Claims = Readonly<Record<string, unknown>> | JsonObject

/** Some providers put e-mail address and groups into the ID token, others only into the answer of the UserInfo endpoint. */
export const needsUserInfo = (idToken: Claims, groupsClaim: string | undefined): boolean =>
  idToken.email === undefined || (groupsClaim !== undefined && idToken[groupsClaim] === undefined)

export function identityOf(
  idToken: Claims & { readonly iss: string; readonly sub: string },
  userInfo: Claims,
  groupsClaim: string | undefined,
): ProviderIdentity {
  // Address and verification come from one source: a verified address must not vouch for another one.
  const addressed = idToken.email === undefined ? userInfo : idToken
  const email = textOf(addressed.email)
  const name = textOf(idToken.name) ?? textOf(userInfo.name)
  const sid = textOf(idToken.sid)
  return {
    issuer: idToken.iss,
    subject: idToken.sub,
    ...(email === undefined ? {} : { email }),
    emailVerified: email !== undefined && addressed.email_verified === true,
    ...(name === undefined ? {} : { name }),
    groups: groupsClaim === undefined ? [] : textsOf(idToken[groupsClaim] ?? userInfo[groupsClaim]),
    ...(sid === undefined ? {} : { sid }),
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** A person with one group may have it as a text instead of a list. */
const textsOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((item) => typeof item === 'string' && item !== '')

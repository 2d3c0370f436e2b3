// Reads the identity of a person from the claims of a provider.
import type { JsonObject } from 'openid-client'
import { textProblem } from '../../../../contract/text.ts'
import { nameProblem } from '../../../core/text.ts'

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
  const emailSource = idToken.email === undefined ? userInfo : idToken
  const email = emailOf(emailSource.email)
  const name = nameOf(idToken.name) ?? nameOf(userInfo.name)
  const sid = textOf(idToken.sid)
  return {
    issuer: idToken.iss,
    subject: idToken.sub,
    ...(email === undefined ? {} : { email }),
    emailVerified: email !== undefined && emailSource.email_verified === true,
    ...(name === undefined ? {} : { name }),
    groups: groupsClaim === undefined ? [] : textsOf(idToken[groupsClaim] ?? userInfo[groupsClaim]),
    ...(sid === undefined ? {} : { sid }),
  }
}

const maxSubjectLength = 255

/** OpenID Connect allows 255 ASCII characters. */
export const isSubject = (subject: string): boolean =>
  subject.length <= maxSubjectLength && textProblem(subject, false) === undefined

const maxEmailLength = 254

/** People choose some of these texts themselves, so the rules of the API hold for them too. [contract D.1] */
const emailOf = (value: unknown): string | undefined => {
  const text = textOf(value)
  const isEmail = text !== undefined && text.length <= maxEmailLength && /^[^@\s]+@[^@\s]+$/.test(text)
  return isEmail && textProblem(text, false) === undefined ? text : undefined
}

const nameOf = (value: unknown): string | undefined => {
  const text = textOf(value)
  return text !== undefined && nameProblem(text) === undefined ? text.trim() : undefined
}

export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** A person with one group may have it as a text instead of a list. */
const textsOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((item) => typeof item === 'string' && item !== '')

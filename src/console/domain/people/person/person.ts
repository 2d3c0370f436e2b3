// A person who can sign in, and the words for their regions and their ways to sign in. [contract 11.user]
import type { Static } from 'typebox'
import type { User, UserSession } from '../../../../contract/people/users.ts'

export type Person = Static<typeof User>

export const personName = ({ name, email }: Pick<Person, 'name' | 'email'>): string => name ?? email

export const wayNames: Readonly<Record<Static<typeof UserSession>['via'], string>> = {
  oidc: 'Company account',
  passkey: 'Passkey',
  link: 'Link',
}

/** The regions of a person or a key as text. A region that the viewer does not see is not in the list. */
export function regionsText(
  { allRegions, regionIds }: Pick<Person, 'allRegions' | 'regionIds'>,
  nameOf: ReadonlyMap<number, string>,
): string {
  if (allRegions) return 'All regions'
  return regionIds.map((id) => nameOf.get(id) ?? `Region ${id}`).join(', ') || 'None'
}

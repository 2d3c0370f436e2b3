// Callers for tests of permissions: people who use a session, as in a browser, and API keys, all of them with any limits.
import type { CallerScope, Role } from '../../../src/contract/people/permissions.ts'
import type { Call, Harness, TestOrg } from '../harness.ts'
import { newPerson, sessionHeaders, type TestPerson } from '../person.ts'

/** The part of a request that says who sends it. */
export type Credentials = Pick<Call, 'key' | 'headers'>

/** The session of a person as the console's own pages send it. */
export const sessionOf = (harness: Harness, person: Pick<TestPerson, 'session'>): Credentials => ({
  key: false,
  headers: sessionHeaders(harness, person),
})

/** Without regions they see the whole organisation. */
export async function newSession(
  harness: Harness,
  org: TestOrg,
  role: Role,
  regionIds?: readonly number[],
): Promise<Credentials> {
  return sessionOf(harness, await newPerson(harness, org, { role, allRegions: !regionIds, regionIds: regionIds ?? [] }))
}

interface KeyLimits {
  readonly scopes: readonly CallerScope[]
  readonly manage?: boolean
  readonly regionIds?: readonly number[]
}

export async function newApiKey(org: TestOrg, limits: KeyLimits): Promise<Credentials> {
  const { body } = await org.call('POST', '/keys', { body: { name: 'Limited key', ...limits } })
  return { key: body.key }
}

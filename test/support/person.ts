// People for tests: users of any role and regions who can call the API, with a personal key and with a session.

import { expect } from 'vitest'
import type { Role } from '../../src/contract/people/permissions.ts'
import { makeApiKey, makeUserSessionSecret, tokenHash, visiblePart } from '../../src/server/auth/token.ts'
import type { Harness, TestOrg } from './harness.ts'

export interface TestPerson {
  readonly id: string
  readonly email: string
  /** A personal API key with all scopes: it may do what the person may. */
  readonly key: string
  readonly keyId: string
  /** The secret of a session. */
  readonly session: string
}

export interface NewPerson {
  readonly role: Role
  readonly allRegions?: boolean
  readonly regionIds?: readonly number[]
}

let count = 0

/** Writes the rows directly, because signing in needs a browser: tests of the sign-in are elsewhere. */
export async function newPerson(
  harness: Harness,
  org: TestOrg,
  { role, allRegions = false, regionIds = [] }: NewPerson,
): Promise<TestPerson> {
  const { db, clock } = harness.services
  const number = ++count
  const email = `${role}-${number}@example.org`
  const { body, text } = await org.call('POST', '/users', { body: { email, role, allRegions, regionIds } })
  expect(body.id, `user ${email} was not created: ${text}`).toBeDefined()
  const [id, now, key, session] = [Number(body.id), clock.now(), makeApiKey(), makeUserSessionSecret()]
  const common = { org: org.org.key, created_at: now }
  const keyId = 1_000_000 + number
  await db.systemTransaction(async ({ kysely }) => {
    const signedIn = { state: 'ACTIVE', signed_in_at: now, all_regions: allRegions ? 1 : 0 }
    await kysely.updateTable('users').set(signedIn).where('org', '=', org.org.key).where('id', '=', id).execute()
    const scopes = { read: 1, operate: 1, write: 1, manage: 1 }
    const rest = { version: 1, rate_limit: null, expires_at: now + 86_400_000, last_used_at: null, user_id: id }
    await kysely
      .insertInto('api_keys')
      .values({ ...common, ...scopes, ...rest, id: keyId, name: 'Own key', prefix: visiblePart(key) })
      .execute()
    await kysely
      .insertInto('key_directory')
      .values({ org: org.org.key, key_id: keyId, hash: tokenHash(key) })
      .execute()
    const details = { ip: null, browser: null, oidc_sid: null, refresh_token: null, checked_at: null, expires_at: null }
    await kysely
      .insertInto('user_sessions')
      .values({ ...common, ...details, hash: tokenHash(session), user_id: id, id: number, via: 'link', used_at: now })
      .execute()
  })
  return { id: String(id), email, key, keyId: String(keyId), session }
}

/** The headers with which the browser of a person sends its session. */
export const sessionHeaders = (
  harness: Pick<Harness, 'url'>,
  { session }: Pick<TestPerson, 'session'>,
): Record<string, string> => ({
  cookie: `roomkeeper-${new URL(harness.url).port}=${session}`,
  'sec-fetch-site': 'same-origin',
})

/** Gives a user an account of the identity provider, or a passkey, as the sign-in stores them. */
export async function newWayToSignIn(
  { services: { db, clock } }: Harness,
  { org }: TestOrg,
  userId: string,
  way: 'oidc' | 'passkey',
): Promise<void> {
  const owner = { org: org.key, user_id: Number(userId) }
  const name = `${way}-${++count}`
  await db.systemTransaction(async ({ kysely }) => {
    if (way === 'oidc') {
      const identity = { issuer: 'https://login.example.org', subject: name, linked_at: clock.now() }
      await kysely
        .insertInto('user_identities')
        .values({ ...owner, ...identity })
        .execute()
      return
    }
    const key = { id: name, number: count, name: 'Laptop', public_key: Buffer.alloc(8), counter: 0, transports: '[]' }
    await kysely
      .insertInto('passkeys')
      .values({ ...owner, ...key, created_at: clock.now(), used_at: null })
      .execute()
  })
}

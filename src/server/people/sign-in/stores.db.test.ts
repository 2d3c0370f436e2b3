// Statements of signing in and out: links, sessions, identities, passkeys and refusals.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStores, type StoreWorld, storedAt } from '../../../../test/support/database/store-world.ts'
import { raiseResourceVersions } from '../../journal/places/versions.ts'
import { updateTested } from '../identity/store.ts'
import { deleteKeysOfUser } from '../keys/store.ts'
import {
  claimCheck,
  deleteProviderSessionsOfUser,
  deleteSessionsBySid,
  deleteSessionsWithoutSid,
  updateCheckedAt,
} from '../sessions/provider-session-store.ts'
import { findRefusal, writeRefusal } from '../sessions/refusal-store.ts'
import {
  deleteExpiredLinks,
  deleteSession,
  deleteSessionsOfPersonalKeys,
  deleteUnusedSessions,
  findSessionHolder,
  insertLink,
  insertSession,
  updateSessionUsed,
} from '../sessions/store.ts'
import {
  assignUserLink,
  deleteExpiredUserLinks,
  deleteUserLink,
  findUserLink,
  insertUserLink,
} from '../sessions/user-link-store.ts'
import {
  countUserSessions,
  deleteUnusedUserSessions,
  deleteUserSessionByHash,
  deleteUserSessions,
  findUserName,
  hasUserSession,
  insertUserSession,
  updateUserSessionUsed,
} from '../sessions/user-session-store.ts'
import { findIdentityOfUser, findUserByIdentity, insertIdentity } from '../users/identity-store.ts'
import { deleteRegionOfUsers, hasActiveOwner, raiseUserVersion, unlinkUser, updateSignedIn } from '../users/store.ts'
import {
  deletePasskey,
  findPasskey,
  findPasskeySettings,
  insertAnsweredChallenge,
  insertPasskey,
  listPasskeys,
  updatePasskeyUsed,
} from './passkey-store.ts'
import { listIdentityProviders } from './provider-store.ts'

let world: StoreWorld
const hashOf = (byte: number) => Buffer.alloc(32, byte)
const settings = '{"issuer":"https://login.example.org"}'
beforeAll(async () => {
  world = await openStores()
  const { org, put } = world
  const user = { org, version: 1, name: 'Åsa', invited_at: null, signed_in_at: null, last_seen_at: null }
  for (const [id, role] of [
    [1, 'owner'],
    [2, 'admin'],
  ] as const) {
    const email = `user-${id}@example.org`
    await put('users', { ...user, id, email, email_key: email, role, state: 'INVITED', all_regions: 0 })
  }
  await put('user_regions', { org, user_id: 2, region_id: 1 })
  const key = { org, version: 1, prefix: 'rk', read: 1, operate: 1, write: 1, manage: 1, rate_limit: null }
  const dates = { created_at: storedAt, expires_at: null, last_used_at: null }
  for (const id of [1, 2]) await put('api_keys', { ...key, ...dates, id, name: 'Own', user_id: id === 2 ? 2 : null })
  await put('identity_providers', {
    org,
    version: 1,
    settings,
    client_secret: null,
    tested_settings: null,
    tested_at: null,
  })
})
afterAll(() => world.close())

const idsOf = <T>(rows: readonly { id: T }[]) => rows.map(({ id }) => id).sort()
const versionOf = async (id: number) => {
  const users = world.db.system.kysely.selectFrom('users')
  return (await users.select('version').where('id', '=', id).executeTakeFirstOrThrow()).version
}

test('a session of a key is used, and ends by sign-out, disuse or with its person', async () => {
  const { db, all, write } = world
  for (const byte of [1, 2, 3]) {
    const used = { created_at: storedAt, used_at: storedAt }
    await all.transaction((tx) => insertSession(tx, { hash: hashOf(byte), key_id: byte === 3 ? 2 : 1, ...used }))
  }
  await write((tx) => updateSessionUsed(tx, { hash: hashOf(1), at: storedAt + 5 }))
  await write((tx) => updateSessionUsed(tx, { hash: hashOf(1), at: storedAt + 4 }))
  expect((await findSessionHolder(db.system, hashOf(1)))?.session).toMatchObject({ usedAt: storedAt + 5 })
  expect(await all.transaction((tx) => deleteSessionsOfPersonalKeys(tx, { user: 2 }))).toEqual([{ key_id: 2 }])
  await write((tx) => deleteUnusedSessions(tx, { before: storedAt + 1 }))
  expect(await findSessionHolder(db.system, hashOf(2))).toBeUndefined()
  expect(await all.transaction((tx) => deleteSession(tx, { hash: hashOf(1) }))).toBe(true)
})

test('links expire', async () => {
  const { db, all, org, write } = world
  await all.transaction((tx) => insertLink(tx, { hash: hashOf(1), key_id: 1, expires_at: storedAt }))
  await write((tx) => deleteExpiredLinks(tx, { now: storedAt }))
  expect(await write(({ kysely }) => kysely.selectFrom('login_links').select('hash').execute())).toEqual([])
  const link = { org, purpose: 'first-owner' as const, user_id: null }
  for (const byte of [1, 2]) {
    await all.transaction((tx) => insertUserLink(tx, { ...link, hash: hashOf(byte), expires_at: storedAt + byte }))
  }
  expect(await findUserLink(db.system, hashOf(2), storedAt)).toMatchObject({ purpose: 'first-owner', user: undefined })
  const assign = () => all.transaction((tx) => assignUserLink(tx, { hash: hashOf(2), user: 1 }))
  expect([await assign(), await assign()]).toEqual([true, false])
  expect((await findUserLink(db.system, hashOf(2), storedAt))?.user).toMatchObject({ id: 1, role: 'owner' })
  await write((tx) => deleteExpiredUserLinks(tx, { now: storedAt + 1 }))
  const use = (byte: number) => all.transaction((tx) => deleteUserLink(tx, { hash: hashOf(byte) }))
  expect([await use(1), await use(2)]).toEqual([false, true])
})

test("a person's sessions are used and end in every way", async () => {
  const { db, all, org, write } = world
  const insert = (id: number, values: object = {}) => {
    const session = { org, hash: hashOf(id), user_id: 2, id, via: 'oidc', created_at: storedAt, used_at: storedAt }
    const details = { expires_at: null, ip: null, browser: null, oidc_sid: null, refresh_token: null, checked_at: 1 }
    return all.transaction((tx) => insertUserSession(tx, { ...session, ...details, ...values }))
  }
  for (const id of [1, 2, 3, 4, 5, 6]) await insert(id, { oidc_sid: id === 1 ? 'sid' : id === 2 ? null : `sid ${id}` })
  expect(await countUserSessions(db.system, { usedAfter: 0, now: storedAt })).toEqual({ count: expect.anything() })
  await write((tx) => updateUserSessionUsed(tx, { hash: hashOf(3), at: storedAt + 9 }))
  const claim = () => write((tx) => claimCheck(tx, { hash: hashOf(3), checkedAt: 1, claimedAt: 2 }))
  expect([await claim(), await claim()]).toEqual([{ refresh_token: null }, undefined])
  await write((tx) => updateCheckedAt(tx, { hash: hashOf(3), claimedAt: 2, at: 3 }))
  expect(await all.transaction((tx) => deleteSessionsBySid(tx, { sid: 'sid' }))).toEqual([{ id: 1, user_id: 2 }])
  expect(await all.transaction((tx) => deleteSessionsWithoutSid(tx, { user: 2 }))).toEqual([{ id: 2, user_id: 2 }])
  expect(await hasUserSession(all, { hash: hashOf(4) })).toBe(true)
  expect(await all.transaction((tx) => deleteUserSessionByHash(tx, { hash: hashOf(4) }))).toBe(true)
  expect(await hasUserSession(all, { hash: hashOf(4) })).toBe(false)
  await write((tx) => deleteUnusedUserSessions(tx, { before: storedAt + 1, now: storedAt }))
  expect(idsOf(await all.transaction((tx) => deleteProviderSessionsOfUser(tx, { user: 2 })))).toEqual([3])
  await insert(7)
  expect(await all.transaction((tx) => deleteUserSessions(tx, { user: 2 }))).toEqual([{ id: 7 }])
})

test('a person signs in with an identity or a passkey, until both are removed', async () => {
  const { db, all, org } = world
  const identity = { issuer: 'https://login.example.org', subject: 'ÅSA' }
  await all.transaction((tx) => insertIdentity(tx, { ...identity, user: 2, at: storedAt }))
  expect(await findUserByIdentity(all, identity)).toMatchObject({ id: 2 })
  expect(await findUserByIdentity(all, { ...identity, subject: 'Åsa' }), 'case matters').toBeUndefined()
  expect(await findIdentityOfUser(all, { user: 2 })).toMatchObject(identity)
  const passkey = { org, user_id: 2, name: 'Laptop', public_key: hashOf(9), counter: 0, transports: '[]' }
  const insert = (id: string, number: number) =>
    all.transaction((tx) => insertPasskey(tx, { ...passkey, id, number, created_at: storedAt, used_at: null }))
  expect([await insert('a', 1), await insert('b', 2), await insert('a', 3)]).toEqual([true, true, false])
  expect(await findPasskey(db.system, { id: 'a' })).toMatchObject({ user_id: 2, settings })
  const use = (counter: number) => all.transaction((tx) => updatePasskeyUsed(tx, { id: 'a', counter, at: storedAt }))
  expect([await use(0), await use(4), await use(4)]).toEqual([true, true, false])
  expect((await listPasskeys(all, { user: 2 })).map(({ number }) => number)).toEqual([1, 2])
  expect(await all.transaction((tx) => deletePasskey(tx, { user: 2, number: 2 }))).toEqual({
    number: 2,
    name: 'Laptop',
  })
  const answer = { challenge: 'c', purpose: 'sign-in', user: 2, end: storedAt }
  const answered = () => all.transaction((tx) => insertAnsweredChallenge(tx, answer))
  expect([await answered(), await answered()]).toEqual([true, false])
  await all.transaction((tx) => unlinkUser(tx, 2))
  expect([await findIdentityOfUser(all, { user: 2 }), await listPasskeys(all, { user: 2 })]).toEqual([undefined, []])
})

test('a person who signs in is active, and their name is read', async () => {
  const { all } = world
  expect(await hasActiveOwner(all)).toBe(false)
  expect(await all.transaction((tx) => updateSignedIn(tx, { user: 1, at: storedAt }))).toBe(true)
  expect(await hasActiveOwner(all)).toBe(true)
  expect(await findUserName(all, { user: 1 })).toEqual({ name: 'Åsa' })
})

test('the provider of an organisation is listed, and its test is stored', async () => {
  const { db, all } = world
  expect(await listIdentityProviders(db.system)).toEqual([{ orgId: 'store-world', orgName: 'Stores', settings }])
  expect(await findPasskeySettings(all)).toEqual({ settings })
  await all.transaction((tx) => updateTested(tx, { hash: 'h', at: storedAt }))
  const stored = world.write(({ kysely }) =>
    kysely.selectFrom('identity_providers').select(['version', 'tested_at']).execute(),
  )
  expect(await stored).toEqual([{ version: 2, tested_at: storedAt }])
})

test('a refused sign-in is written once in a while', async () => {
  const { all } = world
  const refuse = (at: number) => all.transaction((tx) => writeRefusal(tx, { identity: 'x', at, before: at - 10 }))
  expect([await refuse(100), await refuse(105), await refuse(110)]).toEqual([true, false, true])
  expect(await findRefusal(all, { identity: 'x' })).toEqual({ refused_at: 110 })
})

test('users get a new version, lose a region, and personal keys end with them', async () => {
  const { all } = world
  const before = await versionOf(2)
  await all.transaction((tx) => raiseUserVersion(tx, { user: 2 }))
  await all.transaction((tx) => raiseResourceVersions(tx, { usersOfRegion: [1] }))
  expect(await versionOf(2)).toBe(before + 2)
  expect(await all.transaction((tx) => deleteRegionOfUsers(tx, { region: 1 }))).toMatchObject([{ id: 2 }])
  expect(await all.transaction((tx) => deleteKeysOfUser(tx, { user: 2 }))).toEqual([{ id: 2, name: 'Own' }])
})

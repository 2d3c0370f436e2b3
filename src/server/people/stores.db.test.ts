// Statements of keys, sessions and identities that need an expiry, a surplus or another provider.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStores, type StoreWorld, storedAt } from '../../../test/support/database/store-world.ts'
import { raiseResourceVersions } from '../journal/places/versions.ts'
import { deleteRegionOfKeys, findKey, hasOtherManager, type KeyRow } from './keys/store.ts'
import { deleteProviderSessions, updateRefreshToken } from './sessions/provider-session-store.ts'
import { deleteOldRefusals } from './sessions/refusal-store.ts'
import { deleteLink, deleteSurplusSessions, findLinkHolder } from './sessions/store.ts'
import { deleteSurplusUserSessions, deleteUserSessionById } from './sessions/user-session-store.ts'
import { deleteExpiredChallenges, hasAnyPasskey } from './sign-in/passkey-store.ts'
import { deleteIdentitiesAndReinvite, hasIdentity, updateUserByGroup } from './users/identity-store.ts'
import { deleteView, findView, insertView, listViews, updateView } from './views/store.ts'

let world: StoreWorld
beforeAll(async () => {
  world = await openStores()
  const { org, put } = world
  const key = { org, version: 1, prefix: 'rk', read: 1, operate: 1, write: 1, manage: 1, rate_limit: null }
  const dates = { created_at: storedAt, expires_at: null, last_used_at: null, user_id: null }
  for (const id of [1, 2]) await put('api_keys', { ...key, ...dates, id, name: `Key ${id}`, all_regions: id - 1 })
  await put('key_regions', { org, key_id: 1, region_id: 1 })
  const user = { org, id: 1, version: 1, email: 'Å@example.org', email_key: 'å@example.org', role: 'admin', name: null }
  const seen = { invited_at: null, signed_in_at: storedAt, last_seen_at: null }
  await put('users', { ...user, ...seen, state: 'ACTIVE', all_regions: 0 })
})
afterAll(() => world.close())

const hashOf = (byte: number) => Buffer.alloc(32, byte)
const hashesIn = async (table: 'sessions' | 'user_sessions') => {
  const rows = await world.write(({ kysely }) => kysely.selectFrom(table).select('hash').orderBy('hash').execute())
  return rows.map(({ hash }) => hash[0])
}

test('another key that can manage is found', async () => {
  const { all } = world
  const [first, second] = [await findKey(all, { id: 1 }), await findKey(all, { id: 2 })]
  expect(await hasOtherManager(all, first as KeyRow, storedAt)).toBe(true)
  await world.write(({ kysely }) => kysely.updateTable('api_keys').set({ manage: 0 }).where('id', '=', 1).execute())
  expect(await hasOtherManager(all, second as KeyRow, storedAt)).toBe(false)
})

test('keys of a region get a new version, and lose the region with their names told', async () => {
  const { all } = world
  await all.transaction((tx) => raiseResourceVersions(tx, { keysOfRegion: [1] }))
  expect([(await findKey(all, { id: 1 }))?.version, (await findKey(all, { id: 2 }))?.version]).toEqual([2, 1])
  expect(await all.transaction((tx) => deleteRegionOfKeys(tx, { region: 1 }))).toEqual([{ id: 1, name: 'Key 1' }])
})

test('a sign-in link leads to its key until it is used', async () => {
  const { db, all, org, put } = world
  await put('login_links', { org, hash: hashOf(1), key_id: 2, expires_at: storedAt + 1 })
  expect(await findLinkHolder(db.system, hashOf(1), storedAt)).toBeDefined()
  expect(await findLinkHolder(db.system, hashOf(1), storedAt + 1), 'has expired').toBeUndefined()
  const use = () => all.transaction((tx) => deleteLink(tx, { hash: hashOf(1) }))
  expect([await use(), await use()]).toEqual([true, false])
})

test('the sessions that were not used for longest are deleted', async () => {
  const { all, org, put } = world
  for (const byte of [1, 2, 3]) {
    const used = { created_at: storedAt, used_at: storedAt + byte }
    await put('sessions', { org, hash: hashOf(byte), key_id: 2, ...used })
    const details = { ip: null, browser: null, oidc_sid: null, refresh_token: null, checked_at: null, expires_at: null }
    const via = byte === 3 ? 'oidc' : 'link'
    await put('user_sessions', { org, hash: hashOf(byte), user_id: 1, id: byte, via, ...used, ...details })
  }
  await all.transaction((tx) => deleteSurplusSessions(tx, { key: 2, max: 2 }))
  await all.transaction((tx) => deleteSurplusUserSessions(tx, { user: 1, max: 2 }))
  expect([await hashesIn('sessions'), await hashesIn('user_sessions')]).toEqual([
    [2, 3],
    [2, 3],
  ])
})

test("a person's session is ended by its id, and those of the provider together", async () => {
  const { all, write } = world
  await write((tx) => updateRefreshToken(tx, { hash: hashOf(3), token: Buffer.from('token') }))
  const stored = await write(({ kysely }) =>
    kysely.selectFrom('user_sessions').select(['id', 'refresh_token']).execute(),
  )
  expect(stored.find(({ id }) => id === 3)?.refresh_token?.toString()).toBe('token')
  expect(await all.transaction((tx) => deleteUserSessionById(tx, { user: 1, id: 2 }))).toEqual({ id: 2 })
  expect(await all.transaction((tx) => deleteProviderSessions(tx))).toEqual([{ id: 3 }])
  expect(await hashesIn('user_sessions')).toEqual([])
})

test('refusals and challenges are deleted when they are old', async () => {
  const { org, put, write } = world
  await put('sign_in_refusals', { org, identity: 'x', refused_at: 1 }, { org, identity: 'y', refused_at: 3 })
  await write((tx) => deleteOldRefusals(tx, { before: 2 }))
  const challenge = { purpose: 'sign-in', org: null, user_id: null }
  await put('passkey_challenges', { ...challenge, challenge: 'old', expires_at: 1 })
  await put('passkey_challenges', { ...challenge, challenge: 'new', expires_at: 3 })
  await write((tx) => deleteExpiredChallenges(tx, { now: 2 }))
  expect(await write(({ kysely }) => kysely.selectFrom('sign_in_refusals').select('identity').execute())).toEqual([
    { identity: 'y' },
  ])
  expect(await write(({ kysely }) => kysely.selectFrom('passkey_challenges').select('challenge').execute())).toEqual([
    { challenge: 'new' },
  ])
})

test('users without a passkey are invited again when the organisation changes its provider', async () => {
  const { db, all, org, put } = world
  await put('user_identities', { org, issuer: 'https://login.example.org', subject: 's', user_id: 1, linked_at: 1 })
  await all.transaction((tx) => updateUserByGroup(tx, { id: 1, role: 'viewer', all_regions: 0, regionIds: [2] }))
  expect(await hasIdentity(all, { user: 1 })).toBe(true)
  expect(await hasAnyPasskey(db.system)).toBe(false)
  const reinvite = () => all.transaction((tx) => deleteIdentitiesAndReinvite(tx, { passkeys: true }))
  expect(await reinvite()).toEqual([{ id: 1, email: 'Å@example.org', state: 'INVITED' }])
  expect(await hasIdentity(all, { user: 1 })).toBe(false)
  const passkey = { id: 'p', org, user_id: 1, number: 1, name: 'Key', public_key: Buffer.alloc(1), counter: 0 }
  await put('passkeys', { ...passkey, transports: '[]', created_at: 1, used_at: null })
  expect(await hasAnyPasskey(db.system)).toBe(true)
})

test('views of one owner and shared views are found, changed and deleted', async () => {
  const { all } = world
  const author = { author_type: 'USER', author_id: '1', author_name: 'Å' }
  const view = { ...author, version: 1, name: 'Offline', page: 'rooms', query: 'state=OFFLINE', columns: null }
  const owners = [
    { user_id: 1, key_id: null },
    { user_id: null, key_id: 2 },
    { user_id: null, key_id: null },
  ]
  await all.transaction(async (tx) => {
    for (const [i, owner] of owners.entries()) await insertView(tx, { ...view, ...owner, id: i + 1 })
  })
  const idsFor = async (user: number, key: number) => (await listViews(all, { user, key })).map(({ id }) => id)
  expect([await idsFor(1, 0), await idsFor(0, 2), await idsFor(0, 0)]).toEqual([[1, 3], [2, 3], [3]])
  expect(await findView(all, { id: 2, user: 1, key: 0 })).toBeUndefined()
  expect(await findView(all, { id: 3, user: 1, key: 0 })).toEqual({ ...view, ...owners[2], id: 3 })
  const changed = { id: 1, user_id: null, key_id: null, name: 'Away', query: '', columns: '["name"]' }
  await all.transaction(async (tx) => {
    await updateView(tx, changed)
    await deleteView(tx, { id: 3 })
  })
  expect(await listViews(all, { user: 0, key: 0 })).toEqual([{ ...view, ...changed, version: 2 }])
})

// Every value that is encrypted with the secret key is opened to prove that the key fits.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newChannel } from '../../../test/support/channels/channel-rows.ts'
import { newFixture } from '../../../test/support/fixture.ts'
import { type Harness, startHarness } from '../../../test/support/harness.ts'
import { newPerson } from '../../../test/support/person.ts'
import { tokenHash } from '../auth/token.ts'
import { Secrets } from '../core/secrets.ts'
import { withoutTransaction } from '../db/copy/transaction-side.ts'
import { sealClientSecret } from '../people/identity/settings.ts'
import { sealRefreshToken } from '../people/sessions/refresh-token.ts'
import { openSealedValues } from './sealed-values.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

test('the secrets of a channel and of an identity provider open with the right key only', async () => {
  const { db, secrets } = harness.services
  const wrong = new Secrets(randomBytes(32))
  const check = (org: { readonly id: string; readonly key: number }, key: Secrets) =>
    openSealedValues(withoutTransaction(db), key, [org])
  const { org } = await harness.newOrg()
  await newChannel(harness, { org }, {})
  expect(await check(org, secrets)).toEqual({ opened: 1, problem: undefined })
  expect((await check(org, wrong)).problem).toMatch(/^a value of channels .* cannot be decrypted$/)
  const { org: other } = await harness.newOrg()
  const client_secret = sealClientSecret(secrets, other.key, 'secret of the client')
  const row = { org: other.key, version: 1, settings: '{}', client_secret, tested_settings: null, tested_at: null }
  await db.systemTransaction(({ kysely }) => kysely.insertInto('identity_providers').values(row).execute())
  expect(await check(other, secrets)).toEqual({ opened: 1, problem: undefined })
  expect((await check(other, wrong)).problem).toMatch(/^a value of identity_providers .* cannot be decrypted$/)
})

test('the refresh token of a session opens in the row of that session only', async () => {
  const { db, secrets } = harness.services
  const org = await harness.newOrg()
  const check = () => openSealedValues(withoutTransaction(db), secrets, [org.org])
  const [own, other] = [
    await newPerson(harness, org, { role: 'viewer' }),
    await newPerson(harness, org, { role: 'viewer' }),
  ]
  const hash = tokenHash(own.session)
  const refresh_token = sealRefreshToken(secrets, { org: org.org.key, hash }, 'a refresh token')
  const store = (at: Buffer) =>
    db.systemTransaction(({ kysely }) =>
      kysely.updateTable('user_sessions').set({ refresh_token }).where('hash', '=', at).execute(),
    )
  await store(hash)
  expect(await check()).toEqual({ opened: 1, problem: undefined })
  await store(tokenHash(other.session))
  expect((await check()).problem).toMatch(/^a value of user_sessions .* cannot be decrypted$/)
})

test('the passwords of a job open with the right key only', async () => {
  const { db, secrets } = harness.services
  const { call, org, room } = await newFixture(harness)
  const check = (key: Secrets) => openSealedValues(withoutTransaction(db), key, [org])
  const before = await check(secrets)
  const action = { type: 'CONFIG', config: { settingsPassword: 'Quite secret' } }
  expect((await call('POST', '/jobs', { body: { name: 'Code', target: { roomIds: [room] }, action } })).status).toBe(
    200,
  )
  expect(await check(secrets)).toEqual({ opened: before.opened + 1, problem: undefined })
  const sealed = new Secrets(randomBytes(32)).seal('Quite secret', 'job').toString('base64')
  const wrong = { secrets: JSON.stringify({ settingsPassword: sealed }) }
  await db.systemTransaction(({ kysely }) => kysely.updateTable('jobs').set(wrong).where('org', '=', org.key).execute())
  expect((await check(secrets)).problem).toMatch(/^a value of jobs .* cannot be decrypted$/)
})

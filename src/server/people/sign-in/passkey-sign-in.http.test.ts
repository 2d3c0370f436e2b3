// Tests that forged, replayed and late answers of passkeys do not sign in. [contract 11.local]
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Authenticator, type Falsified } from '../../../../test/support/console/authenticator.ts'
import { passkeyOrigin as origin, passkeyRequests } from '../../../../test/support/console/passkeys.ts'
import { disable, entriesOf } from '../../../../test/support/console/user-session.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { deleteOldChallenges } from './retention.ts'

const [minute, hour] = [60_000, 3_600_000]

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({ publicUrl: origin })
})
afterAll(() => harness.close())

const { post, signInOptions, addOptions, answer, person } = passkeyRequests(() => harness)

const sessionCount = async (org: TestOrg) =>
  (
    await harness.services.db.system.kysely
      .selectFrom('user_sessions')
      .select('id')
      .where('org', '=', org.org.key)
      .execute()
  ).length

/** Each entry falsifies one part of an answer to a challenge. */
const forgeries: readonly (readonly [string, (options: { challenge: string }) => Falsified | Promise<Falsified>])[] = [
  ['of a page of another origin', () => ({ origin: 'https://rooms.example.org.evil.example' })],
  ['of a page over plain HTTP', () => ({ origin: 'http://rooms.example.org' })],
  ['in a frame of another site', () => ({ crossOrigin: true })],
  ['for another RP id', () => ({ rpId: 'example.org' })],
  ['without user verification', () => ({ isVerified: false })],
  ['without user presence', () => ({ isPresent: false })],
  ['of the other ceremony', () => ({ type: 'webauthn.create' })],
  ['to a challenge that nobody made', () => ({ challenge: Buffer.alloc(48, 7).toString('base64url') })],
  [
    'to a changed challenge',
    ({ challenge }) => ({ challenge: `${challenge.slice(0, -1)}${challenge.endsWith('A') ? 'B' : 'A'}` }),
  ],
  ['signed with another key', () => ({ signer: new Authenticator(origin).keys.privateKey })],
  ['with the handle of another person', () => ({ userHandle: Buffer.from('other/1').toString('base64url') })],
  ['without the handle of its person', () => ({ userHandle: null })],
]

describe('signing in is refused', () => {
  test.each(forgeries)('with an answer %s', async (_, forge) => {
    const org = await harness.newOrg()
    const { authenticator } = await person(org)
    const options = await signInOptions()
    const before = await sessionCount(org)
    const reply = await answer(authenticator.get(options, await forge(options)))
    expect(reply.body).toMatchObject({ status: 401, message: expect.stringContaining('not accepted') })
    expect(reply.headers.has('set-cookie')).toBe(false)
    expect(await sessionCount(org)).toBe(before)
    expect((await answer(authenticator.get(options))).status, 'the true answer').toBe(200)
  })

  test('with a challenge for adding a passkey, and the other way round', async () => {
    const org = await harness.newOrg()
    const { cookie, authenticator } = await person(org)
    const { challenge } = await addOptions(cookie)
    expect((await answer(authenticator.get({ challenge, rpId: 'rooms.example.org' }))).status).toBe(401)
    const options = { ...(await addOptions(cookie)), challenge: (await signInOptions()).challenge }
    const response = new Authenticator(origin).create(options)
    expect((await post('/console/passkeys/verify', { response }, cookie)).status).toBe(400)
  })

  test('after 5 minutes, and for an answer that was used', async () => {
    const org = await harness.newOrg()
    harness.clock.fix(harness.clock.now())
    const { authenticator } = await person(org)
    const [inTime, late] = [await signInOptions(), await signInOptions()]
    harness.clock.advance(5 * minute - 1)
    const used = authenticator.get(inTime)
    expect((await answer(used)).status).toBe(200)
    await deleteOldChallenges(harness.services)
    expect((await answer(used)).status, 'replayed').toBe(401)
    harness.clock.advance(1)
    expect((await answer(authenticator.get(late))).status, 'late').toBe(401)
    await deleteOldChallenges(harness.services)
    const rows = harness.services.db.system.kysely.selectFrom('passkey_challenges').selectAll()
    expect(await rows.where('org', '=', org.org.key).execute()).toEqual([])
    expect((await answer(used)).status, 'replayed after its time').toBe(401)
  })

  test('for all but one when an answer without a counter is sent several times at once', async () => {
    const org = await harness.newOrg()
    const { authenticator } = await person(org)
    const response = authenticator.get(await signInOptions(), { counter: 0 })
    const replies = await Promise.all(Array.from({ length: 6 }, () => answer(response)))
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, ...Array(5).fill(401)])
  })

  test('if the counter went back, as that of a copy does', async () => {
    const org = await harness.newOrg()
    const { authenticator } = await person(org)
    expect((await answer(authenticator.get(await signInOptions(), { counter: 9 }))).status).toBe(200)
    expect((await answer(authenticator.get(await signInOptions(), { counter: 9 }))).status).toBe(401)
    expect((await answer(authenticator.get(await signInOptions(), { counter: 10 }))).status).toBe(200)
  })

  test('for an unknown passkey, and for malformed answers', async () => {
    const stranger = new Authenticator(origin)
    stranger.userHandle = 'c3RyYW5nZXI'
    const reply = await answer(stranger.get(await signInOptions()))
    expect(reply.body).toMatchObject({ status: 401, message: expect.stringContaining('not known here') })
    for (const body of [
      {},
      { response: {} },
      { response: { ...stranger.get(await signInOptions()), id: 'not base64!' } },
    ]) {
      expect((await post('/console/sign-in/passkey/verify', body)).status).toBe(400)
    }
  })

  test('for a disabled person and where an organisation turned passkeys off, audited once an hour', async () => {
    const org = await harness.newOrg()
    harness.clock.fix(harness.clock.now())
    const { id, email, cookie, authenticator } = await person(org)
    const attempt = async () => answer(authenticator.get(await signInOptions()))
    await disable(harness, org, id)
    expect((await attempt()).body.message).toContain('disabled')
    expect((await attempt()).status).toBe(401)
    expect(await entriesOf(org, 'SIGN_IN_REFUSED')).toEqual([
      expect.objectContaining({
        target: { type: 'user', id, name: email },
        details: { after: { via: 'passkey', reason: expect.stringContaining('disabled') } },
      }),
    ])
    await disable(harness, org, id, 'ACTIVE')
    harness.services.keysChanged()
    await harness.services.db.systemTransaction(async ({ kysely }) => {
      const settings = JSON.stringify({ passkeys: false, enabled: false })
      const row = {
        org: org.org.key,
        version: 1,
        settings,
        client_secret: null,
        tested_settings: null,
        tested_at: null,
      }
      await kysely.insertInto('identity_providers').values(row).execute()
    })
    harness.clock.advance(hour)
    expect((await attempt()).body).toMatchObject({ status: 401, message: expect.stringContaining('turned off') })
    expect(await entriesOf(org, 'SIGN_IN_REFUSED')).toHaveLength(2)
    const refused = await post('/console/passkeys/options', undefined, cookie)
    expect(refused.body).toMatchObject({ status: 400, code: 'FAILED_PRECONDITION' })
  })

  test('from a page of another site', async () => {
    const org = await harness.newOrg()
    const { authenticator } = await person(org)
    const body = { response: authenticator.get(await signInOptions()) }
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
    ]) {
      const reply = await harness.call('POST', '/console/sign-in/passkey/verify', { body, headers })
      expect([reply.status, reply.headers.has('set-cookie')]).toEqual([401, false])
    }
    expect((await answer(body.response)).status, 'none of them used the challenge up').toBe(200)
  })
})

test('failed sign-ins count among the failures of their address, and a true passkey still gets in [contract 3.11]', async () => {
  // Every node counts by itself.
  const strict = await startHarness({ publicUrl: origin, authFailureLimit: 1 }, { nodes: 1 })
  try {
    const { signInOptions, answer, person } = passkeyRequests(() => strict)
    const { authenticator } = await person(await strict.newOrg())
    strict.clock.fix(strict.clock.now())
    const forged = authenticator.get(await signInOptions(), { isVerified: false })
    const statuses = []
    for (let i = 0; i < 21; i++) statuses.push((await answer(forged)).status)
    expect(statuses).toEqual([...Array(20).fill(401), 429])
    expect((await answer(authenticator.get(await signInOptions()))).status).toBe(200)
  } finally {
    await strict.close()
  }
})

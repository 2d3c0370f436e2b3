// Tests passkeys over HTTP: adding, signing in and removing, and what the sign-in page may offer. [contract 11.local]

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Authenticator } from '../../../../test/support/console/authenticator.ts'
import { cookieOf, own, readWith } from '../../../../test/support/console/console-session.ts'
import { passkeyOrigin as origin, passkeyRequests } from '../../../../test/support/console/passkeys.ts'
import { consoleCall } from '../../../../test/support/console/user-session.ts'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'
import { readMetrics } from '../../../../test/support/nodes/metrics.ts'
import { minuteMs } from '../../../contract/durations.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({ publicUrl: origin })
})
afterAll(() => harness.close())

const { post, signInOptions, addOptions, answer, list, newcomer, addTo, person } = passkeyRequests(() => harness)

describe('a passkey', () => {
  test('is added with options that demand a resident key and verification, and is listed and audited', async () => {
    const org = await harness.newOrg('Fjord')
    const { id, email, cookie } = await newcomer(org)
    const options = await addOptions(cookie)
    expect(options).toMatchObject({
      rp: { id: 'rooms.example.org', name: 'Roomkeeper' },
      user: { name: email, displayName: `${email} (Fjord)` },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      excludeCredentials: [],
      timeout: 5 * minuteMs,
    })
    const { authenticator, passkey } = await addTo(cookie, 'Security key')
    expect(passkey).toEqual({ id: expect.any(String), name: 'Security key', createdAt: expect.stringMatching(/Z$/) })
    expect(await list(cookie)).toEqual([passkey])
    expect((await addOptions(cookie)).excludeCredentials).toEqual([expect.objectContaining({ id: authenticator.id })])
    expect((await org.audit())[0]).toMatchObject({
      type: 'PASSKEY_ADDED',
      category: 'USER',
      actor: { type: 'USER', id },
      target: { type: 'user', id },
      details: { after: { passkey: passkey.id, name: 'Security key' } },
    })
  })

  test('signs its person in, without a name being typed', async () => {
    const org = await harness.newOrg()
    const { id, email, cookie, authenticator } = await person(org, 'admin')
    const options = await signInOptions()
    expect(options).toMatchObject({ rpId: 'rooms.example.org', userVerification: 'required' })
    expect(options.allowCredentials ?? []).toEqual([])
    const reply = await answer(authenticator.get(options))
    expect(reply.body).toMatchObject({ org: { id: org.id }, user: { id, email, role: 'admin' } })
    expect((await readWith(org, cookieOf(reply))).status).toBe(200)
    expect(cookieOf(reply)).not.toBe(cookie)
    expect((await org.audit())[0]).toMatchObject({
      type: 'SESSION_STARTED',
      actor: { type: 'USER', id },
      details: { after: { via: 'passkey' } },
    })
    expect(await list(cookie)).toEqual([expect.objectContaining({ usedAt: expect.stringMatching(/Z$/) })])
    expect((await answer(authenticator.get(options))).status, 'the challenge was used').toBe(401)
    const metrics = await readMetrics(harness)
    expect(metrics).toMatch(/roomkeeper_sign_ins_total\{way="passkey",outcome="accepted"\} [1-9]/)
    expect(metrics).toMatch(/roomkeeper_sign_ins_total\{way="passkey",outcome="refused"\} [1-9]/)
  })

  test('ends the session that the browser had', async () => {
    const org = await harness.newOrg()
    const { cookie, authenticator } = await person(org)
    const body = { response: authenticator.get(await signInOptions()) }
    const reply = await post('/console/sign-in/passkey/verify', body, cookie)
    expect([(await readWith(org, cookie)).status, (await readWith(org, cookieOf(reply))).status]).toEqual([401, 200])
  })

  test('is named after the browser if the person gives no name', async () => {
    const org = await harness.newOrg()
    const { cookie } = await newcomer(org)
    const response = new Authenticator(origin).create(await addOptions(cookie))
    const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' }
    const reply = await consoleCall(harness, 'POST', '/console/passkeys/verify', {
      body: { response },
      cookie,
      headers,
    })
    expect(reply.body.name).toBe('Firefox on Linux')
  })
})

describe('adding a passkey is refused', () => {
  test('with an answer to the options of another person, of another origin, unverified, or used', async () => {
    const org = await harness.newOrg()
    const [ada, eve] = [await newcomer(org), await newcomer(org)]
    const add = async (cookie: string, response: unknown) =>
      (await post('/console/passkeys/verify', { response }, cookie)).status
    const options = await addOptions(ada.cookie)
    expect(await add(eve.cookie, new Authenticator(origin).create(options))).toBe(400)
    expect(await add(ada.cookie, new Authenticator('https://evil.example').create(options))).toBe(400)
    expect(await add(ada.cookie, new Authenticator(origin).create(options, { isVerified: false }))).toBe(400)
    expect(await add(ada.cookie, new Authenticator(origin).create(options, { rpId: 'evil.example' }))).toBe(400)
    expect([await list(ada.cookie), await list(eve.cookie)]).toEqual([[], []])
    const response = new Authenticator(origin).create(options)
    expect(await add(ada.cookie, response)).toBe(200)
    expect(await add(ada.cookie, response)).toBe(400)
    expect(await add(ada.cookie, new Authenticator(origin).create(options)), 'the challenge was used').toBe(400)
    expect(await list(ada.cookie)).toHaveLength(1)
  })

  test('if another person has it, so that a passkey cannot be taken over', async () => {
    const org = await harness.newOrg()
    const ada = await person(org)
    const eve = await newcomer(await harness.newOrg())
    const response = new Authenticator(origin).create(await addOptions(eve.cookie), { id: ada.authenticator.id })
    const reply = await post('/console/passkeys/verify', { response }, eve.cookie)
    expect(reply.body).toMatchObject({ status: 400, code: 'FAILED_PRECONDITION' })
    expect((await answer(ada.authenticator.get(await signInOptions()))).body.user.id).toBe(ada.id)
  })

  test('beyond 20', async () => {
    const org = await harness.newOrg()
    const { cookie } = await newcomer(org)
    const options = await addOptions(cookie)
    for (let i = 0; i < 20; i++) await addTo(cookie)
    expect((await post('/console/passkeys/options', undefined, cookie)).body.message).toContain('at most 20')
    const response = new Authenticator(origin).create(options)
    expect((await post('/console/passkeys/verify', { response }, cookie)).body.message).toContain('at most 20')
  })
})

describe('removing a passkey', () => {
  const remove = (id: string, cookie: string) => consoleCall(harness, 'DELETE', `/console/passkeys/${id}`, { cookie })

  test('ends its use at once, is audited, and is about one’s own only', async () => {
    const org = await harness.newOrg()
    const [ada, eve] = [await person(org), await person(org)]
    for (const foreign of [ada.passkey.id, '99999', 'x']) expect((await remove(foreign, eve.cookie)).status).toBe(404)
    expect((await remove(ada.passkey.id, ada.cookie)).body).toEqual({})
    expect((await org.audit())[0]).toMatchObject({
      type: 'PASSKEY_REMOVED',
      actor: { id: ada.id },
      details: { before: { passkey: ada.passkey.id } },
    })
    expect((await answer(ada.authenticator.get(await signInOptions()))).status).toBe(401)
    expect((await answer(eve.authenticator.get(await signInOptions()))).status).toBe(200)
  })

  test('fails for the last one with which an owner can sign in', async () => {
    const org = await harness.newOrg()
    const ada = await person(org, 'owner')
    const refused = await remove(ada.passkey.id, ada.cookie)
    expect(refused.body).toMatchObject({ status: 400, code: 'FAILED_PRECONDITION' })
    expect(await list(ada.cookie)).toHaveLength(1)
    await addTo(ada.cookie)
    expect((await remove(ada.passkey.id, ada.cookie)).status).toBe(200)
    expect(await list(ada.cookie)).toHaveLength(1)
  })
})

describe('GET /console/sign-in', () => {
  const ways = async (of: Harness) => (await of.call('GET', '/console/sign-in', { headers: own })).body

  test('offers passkeys at the public address, and providers that are enabled', async () => {
    const org = await harness.newOrg('With provider')
    await harness.services.db.systemTransaction(async ({ kysely }) => {
      const settings = JSON.stringify({ enabled: true })
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
    expect(await ways(harness)).toEqual({
      passkeys: { available: true, origin, url: origin },
      providers: [{ orgId: org.id, orgName: 'With provider', url: `${origin}/auth/${org.id}/oidc` }],
    })
  })

  test.each([
    // Localhost does not lead to this address.
    [{ host: '127.0.0.3' }, '--public-url'],
    [{ publicUrl: 'https://192.0.2.7' }, 'IP address'],
  ])('says why passkeys are off with %j, and the ceremonies refuse in the same words', async (options, reason) => {
    const off = await startHarness(options)
    try {
      const { passkeys } = await ways(off)
      expect(passkeys).toEqual({ available: false, reason: expect.stringContaining(reason) })
      const refused = await off.call('POST', '/console/sign-in/passkey/options', { headers: own })
      expect(refused.body).toMatchObject({
        code: 'FAILED_PRECONDITION',
        // The message of a failure goes on in the middle of a sentence.
        message: `Operation preconditions not met: p${passkeys.reason.slice(1)}`,
      })
    } finally {
      await off.close()
    }
  })
})

// Tests API keys and rate limits: the cost of a token, limits by key, and limits of failed attempts by address.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { devicePaths } from '../../src/contract/device/protocol.ts'
import { Keyring } from '../../src/server/auth/keyring.ts'
import { isApiKey, makeApiKey, makeCredential, tokenHash } from '../../src/server/auth/token.ts'
import { findHolder } from '../../src/server/people/keys/store.ts'
import { enrolTestDevice } from '../support/devices/test-device.ts'
import { type Harness, hasOneNode, startHarness, TestClock } from '../support/harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({ rateLimit: 5, authFailureLimit: 1, trustProxy: ['127.0.0.1'] })
})
afterAll(() => harness.close())

describe('tokens [contract 3.1]', () => {
  test('have a recognisable prefix, over 160 random bits and a checksum that catches any one wrong character', () => {
    const token = makeApiKey()
    expect(token).toMatch(/^rk_[0-9A-Za-z]{40}$/)
    expect(34 * Math.log2(62)).toBeGreaterThan(160)
    expect(isApiKey(token)).toBe(true)
    for (let i = 3; i < token.length; i++) {
      const other = token[i] === 'a' ? 'b' : 'a'
      expect(isApiKey(token.slice(0, i) + other + token.slice(i + 1)), `position ${i}`).toBe(false)
    }
    for (const not of ['', 'rk_', token.slice(1), `${token}x`, token.replace('rk_', 'sk_'), `${token}\n`]) {
      expect(isApiKey(not)).toBe(false)
    }
  })

  test('cost no database read when malformed, one when unknown, then none for a moment; a valid one is asked for again', async () => {
    const { newKey } = await harness.newOrg()
    const valid = await newKey({})
    const clock = new TestClock()
    clock.fix(1e12)
    let reads = 0
    const keyring = new Keyring(
      (hash) => {
        reads++
        return findHolder(harness.services.db.system, hash)
      },
      clock,
      { rate: 0, burst: 0 },
    )
    expect(await keyring.find('rk_nonsense')).toBeUndefined()
    expect(reads).toBe(0)
    const unknown = makeApiKey()
    expect(await keyring.find(unknown)).toBeUndefined()
    expect(await keyring.find(unknown)).toBeUndefined()
    expect(reads).toBe(1)
    await Promise.all([keyring.find(valid), keyring.find(valid)])
    expect((await keyring.find(valid))?.actor.name).toBe('Test key')
    expect(reads).toBe(2)
    clock.advance(1000)
    await keyring.find(valid)
    await keyring.find(unknown)
    expect(reads).toBe(4)
  })

  test('revoked during a look-up are not trusted afterwards', async () => {
    const { newKey } = await harness.newOrg()
    const token = await newKey({})
    const waiting: (() => void)[] = []
    let revoked = false
    const keyring = new Keyring(
      async (hash) => {
        const holder = revoked ? undefined : await findHolder(harness.services.db.system, hash)
        await new Promise<void>((resolve) => waiting.push(resolve))
        return holder
      },
      { now: () => 1e12 },
      { rate: 0, burst: 0 },
    )
    const first = Promise.resolve(keyring.find(token))
    await expect.poll(() => waiting.length).toBe(1)
    revoked = true
    keyring.invalidate()
    // Also one that asks while the old look-up is still under way.
    const second = Promise.resolve(keyring.find(token))
    await expect.poll(() => waiting.length).toBe(2)
    waiting[0]?.()
    await first
    waiting[1]?.()
    expect(await second).toBeUndefined()
  })

  test('are stored as a hash only', async () => {
    const { key, org } = await harness.newOrg()
    const rows = await harness.services.db.system.kysely
      .selectFrom('key_directory as d')
      .innerJoin('api_keys as k', (j) => j.onRef('k.org', '=', 'd.org').onRef('k.id', '=', 'd.key_id'))
      .selectAll()
      .where('d.org', '=', org.key)
      .execute()
    expect(rows).toHaveLength(1)
    expect(rows[0]?.hash.equals(tokenHash(key))).toBe(true)
    expect(JSON.stringify(rows)).not.toContain(key.slice(9))
  })
})

// Every node has limits of its own.
describe.runIf(hasOneNode)('the rate limit of a key [contract 7.5]', () => {
  test('is a token bucket: a burst, then 429 with Retry-After, then again as time passes; other keys are not touched', async () => {
    const { call, newKey } = await harness.newOrg()
    harness.clock.fix(harness.clock.now())
    const key = await newKey({})
    const other = await newKey({})
    for (let left = 9; left >= 0; left--) {
      const reply = await call('GET', '/regions', { key })
      expect(reply.status).toBe(200)
      expect(reply.headers.get('ratelimit-policy')).toBe('"default";q=10;w=2')
      expect(reply.headers.get('ratelimit')).toMatch(new RegExp(`^"default";r=${left};t=\\d$`))
    }
    const refused = await call('GET', '/regions', { key })
    expect(refused.status).toBe(429)
    expect(refused.body.code).toBe('RESOURCE_EXHAUSTED')
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    expect((await call('GET', '/regions', { key: other })).status).toBe(200)
    harness.clock.advance(1000)
    for (let i = 0; i < 5; i++) expect((await call('GET', '/regions', { key })).status).toBe(200)
    expect((await call('GET', '/regions', { key })).status).toBe(429)
  })

  test('can be set for one key, and switched off for it', async () => {
    const { call, newKey } = await harness.newOrg()
    const slow = await newKey({ rateLimit: 1 })
    const free = await newKey({ rateLimit: 0 })
    const statuses = []
    for (let i = 0; i < 4; i++) statuses.push((await call('GET', '/regions', { key: slow })).status)
    expect(statuses).toEqual([200, 200, 429, 429])
    for (let i = 0; i < 30; i++) {
      const reply = await call('GET', '/regions', { key: free })
      expect(reply.status).toBe(200)
      expect(reply.headers.has('ratelimit')).toBe(false)
    }
  })

  test('comes after the token and before the organisation [contract 2.3]', async () => {
    const { call, newKey } = await harness.newOrg()
    const key = await newKey({ rateLimit: 1 })
    for (let i = 0; i < 2; i++) await call('GET', '/regions', { key })
    expect((await harness.call('GET', '/v1/orgs/Nowhere/regions', { key })).status).toBe(429)
  })
})

describe.runIf(hasOneNode)('failed tokens [contract 3.11]', () => {
  test('are limited per address, and never refuse a valid key or another address', async () => {
    const { call, newKey } = await harness.newOrg()
    const key = await newKey({ rateLimit: 0 })
    const from = (ip: string) => ({ 'x-forwarded-for': ip })
    const statuses = []
    for (let i = 0; i < 25; i++) {
      const headers = from('203.0.113.7')
      const key = i % 2 === 0 ? 'rubbish' : makeApiKey()
      statuses.push((await harness.call('GET', '/v1/orgs/x/regions', { headers, key })).status)
    }
    expect(statuses.slice(0, 20).every((s) => s === 401)).toBe(true)
    expect(statuses.slice(20).every((s) => s === 429)).toBe(true)
    expect((await call('GET', '/regions', { key, headers: from('203.0.113.7') })).status).toBe(200)
    expect((await harness.call('GET', '/v1/orgs/x/regions', { headers: from('203.0.113.8') })).status).toBe(401)
  })

  test('include wrong device credentials at the upload of logs, which never refuse a right one', async () => {
    const org = await harness.newOrg()
    const key = await org.newKey({ rateLimit: 0 })
    const { id: roomId } = (await org.client.roomsCreate({ body: { name: 'Fjord' } })).body
    const { answer } = await enrolTestDevice(harness, org, { roomId })
    const upload = (credential: string, ip: string) => {
      const basic = Buffer.from(`${answer.endpointId}:${credential}`).toString('base64')
      const headers = { 'x-forwarded-for': ip, 'x-forwarded-proto': 'https', authorization: `Basic ${basic}` }
      return harness.call('PUT', `${devicePaths.logs}/a/b`, { raw: 'x', headers })
    }
    const wrong = []
    for (let i = 0; i < 25; i++) wrong.push(await upload(i % 2 === 0 ? 'rubbish' : makeCredential(), '203.0.113.9'))
    expect(new Set(wrong.slice(0, 20).map(({ status }) => status))).toEqual(new Set([401]))
    expect(new Set(wrong.slice(20).map(({ status }) => status))).toEqual(new Set([429]))
    expect(wrong.at(-1)?.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    expect((await upload(answer.credential, '203.0.113.9')).status, 'nobody asked for these logs').toBe(404)
    expect((await upload('rubbish', '203.0.113.10')).status).toBe(401)
    expect((await org.call('GET', '/regions', { key })).status).toBe(200)
  })
})

// Tests gatewayDevicesTest: a person asks, the gateway answers.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../../../test/support/devices/gateway.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { minuteMs } from '../../../contract/durations.ts'
import { timeLimits } from '../../core/time-limits.ts'
import { deleteOldTests } from './retention.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(Date.UTC(2026, 10, 18, 9))
})
afterAll(() => harness.close())

const target = { driver: 'roomos', host: '10.20.4.17', username: 'roomkeeper', secret: 'correct horse' }
const fingerprint = Array.from({ length: 32 }, () => 'AB').join(':')

interface Site extends TestOrg {
  readonly gateway: TestGateway
  test(body: object): ReturnType<TestOrg['call']>
}

async function newSite(at = harness): Promise<Site> {
  const org = await at.newOrg()
  await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
  const gateway = await startGateway(at, org, { roomId: 1 })
  await gateway.device.next('devices')
  return { ...org, gateway, test: (body) => org.call('POST', `/gateways/${gateway.id}/devices/test`, { body }) }
}

/** The gateway answers the next test. */
async function answerNext(gateway: TestGateway, answer: object) {
  await gateway.device.next('devices')
  const { tests } = await gateway.list()
  const [wanted] = tests
  if (!wanted) throw new Error('the list has no test')
  const reply = await gateway.answer(wanted.id, answer)
  return { wanted, reply }
}

test('gatewayDevicesTest returns what the gateway found, and says in the audit log who asked [contract 13.test]', async () => {
  const site = await newSite()
  const found = {
    manufacturer: 'Cisco',
    model: 'Codec Pro',
    serial: 'FOC1234ABCD',
    firmwareVersion: 'ce11.14.5.0',
    certificate: { fingerprint, isTrusted: false, validUntil: '2027-05-04T08:15:30.000Z' },
    notes: ['Counting people outside of calls is off.'],
  }
  const [result, { wanted, reply }] = await Promise.all([
    site.test({ ...target, fingerprint }),
    answerNext(site.gateway, { found }),
  ])
  expect(result.body).toEqual({ found })
  expect(reply.body).toEqual({})
  const { id, ...tried } = wanted
  expect(tried).toEqual({ ...target, port: 443, options: { losesPowerWithDisplay: false }, fingerprint })
  expect((await site.gateway.list()).tests).toEqual([])
  expect((await site.gateway.answer(id, { found })).status, 'a second answer').toBe(404)
  const [entry] = await site.audit()
  expect(entry).toMatchObject({
    type: 'GATEWAY_DEVICE_TESTED',
    target: { type: 'endpoint', id: site.gateway.id },
    details: { after: { driver: 'roomos', host: '10.20.4.17', port: 443, username: 'roomkeeper' } },
  })
  expect(JSON.stringify(entry)).not.toContain('correct horse')
})

test('gatewayDevicesTest says why a device cannot be managed [contract 13.test]', async () => {
  const site = await newSite()
  const refused = { state: 'REFUSED', reason: 'The codec refused the password of roomkeeper.' }
  const [result] = await Promise.all([site.test(target), answerNext(site.gateway, refused)])
  expect(result.body).toEqual(refused)
})

test('an answer with raw bytes or endless texts is refused [contract 13.test]', async () => {
  const site = await newSite()
  const running = site.test(target)
  await site.gateway.device.next('devices')
  const [wanted] = (await site.gateway.list()).tests
  for (const found of [
    { model: 'a\u0000b' },
    { model: 'x'.repeat(65) },
    { model: 'Codec', notes: Array.from({ length: 17 }, () => 'x') },
    { model: 'Codec', certificate: { fingerprint: 'x', isTrusted: true, validUntil: '2027-05-04T08:15:30.000Z' } },
  ]) {
    expect((await site.gateway.answer(wanted?.id ?? '', { found })).status).toBe(400)
  }
  expect((await site.gateway.answer(wanted?.id ?? '', { found: { model: 'Codec', raw: 'x' } })).status).toBe(200)
  expect((await running).body).toEqual({ found: { model: 'Codec' } })
})

test('a stored secret is tried at its stored address only [contract 13.secrets]', async () => {
  const site = await newSite()
  const { body: item } = await site.call('POST', `/gateways/${site.gateway.id}/devices`, {
    body: { ...target, roomId: 1 },
  })
  await site.gateway.device.next('devices')
  const [, { wanted }] = await Promise.all([
    site.test({ deviceId: item.id, username: 'other' }),
    answerNext(site.gateway, { found: { model: 'Codec' } }),
  ])
  expect(wanted).toMatchObject({ ...target, username: 'other' })
  for (const moved of [{ host: '192.0.2.1' }, { port: 8443 }]) {
    const refused = await site.test({ deviceId: item.id, ...moved })
    expect(refused.body).toMatchObject({ code: 'FAILED_PRECONDITION' })
  }
  expect((await site.gateway.list()).tests).toEqual([])
  const [, moved] = await Promise.all([
    site.test({ deviceId: item.id, host: '192.0.2.1', secret: 'another' }),
    answerNext(site.gateway, { found: { model: 'Codec' } }),
  ])
  expect(moved.wanted).toMatchObject({ host: '192.0.2.1', secret: 'another' })
})

test('without an answer the test ends, and its secret is deleted [contract 13.test]', async () => {
  const impatient = await startHarness({}, { limits: { ...timeLimits, gatewayTestMs: 300 } })
  const site = await newSite(impatient)
  const { body } = await site.test(target)
  expect(body).toEqual({ reason: expect.stringContaining('no answer') })
  expect((await site.gateway.list()).tests).toEqual([])
  const rows = () =>
    impatient.services.db.system.kysely
      .selectFrom('gateway_tests')
      .select(['secrets', 'ended'])
      .where('gateway_id', '=', site.gateway.id)
      .execute()
  await deleteOldTests(impatient.services)
  const kept = await rows()
  impatient.clock.advance(minuteMs)
  await deleteOldTests(impatient.services)
  const left = await rows()
  await impatient.close()
  expect(kept).toEqual([{ secrets: null, ended: 1 }])
  expect(left, 'tests of the last minute are counted, and no others').toEqual([])
})

test('a gateway makes one test at a time, and 20 in a minute [contract 13.test]', async () => {
  const site = await newSite()
  const running = site.test(target)
  await site.gateway.device.next('devices')
  const second = await site.test(target)
  expect(second.status).toBe(409)
  expect(second.headers.get('retry-after')).toBeTruthy()
  const [first] = (await site.gateway.list()).tests
  await site.gateway.answer(first?.id ?? '', { found: { model: 'Codec' } })
  await running
  for (let i = 1; i < 20; i++) {
    await Promise.all([site.test(target), answerNext(site.gateway, { found: { model: 'Codec' } })])
  }
  const entries = (await site.audit()).length
  const refused = await site.test(target)
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('60')
  expect(await site.audit()).toHaveLength(entries)
  harness.clock.advance(60_001)
  const [again] = await Promise.all([site.test(target), answerNext(site.gateway, { found: { model: 'Codec' } })])
  expect(again.status).toBe(200)
})

test('a gateway that is not connected makes no tests, and only its own count [contract 13.test]', async () => {
  const site = await newSite()
  const neighbour = await startGateway(harness, site, { roomId: 1 })
  await neighbour.device.next('devices')
  const running = site.test(target)
  await site.gateway.device.next('devices')
  const [wanted] = (await site.gateway.list()).tests
  expect((await neighbour.list()).tests).toEqual([])
  expect((await neighbour.answer(wanted?.id ?? '', { found: { model: 'Codec' } })).status).toBe(404)
  await site.gateway.answer(wanted?.id ?? '', { state: 'UNREACHABLE', reason: 'No answer.' })
  expect((await running).body.state).toBe('UNREACHABLE')
  await neighbour.device.close()
  for (let i = 0; ; i++) {
    const { body } = await site.call('GET', `/endpoints/${neighbour.id}`)
    if (!body.connected) break
    if (i > 100) throw new Error('the gateway is still connected')
  }
  const refused = await site.call('POST', `/gateways/${neighbour.id}/devices/test`, { body: target })
  expect(refused.body).toMatchObject({ code: 'FAILED_PRECONDITION', message: expect.stringContaining('not connected') })
})

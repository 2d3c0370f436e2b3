// Plants secrets in sources and their tests, and searches them in everything that is answered, stored, logged or listed. [contract 15.secrets]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { storedText } from '../../../../test/support/database/stored-text.ts'
import { newSourceSite, pulseSource } from '../../../../test/support/devices/source-site.ts'
import { follow } from '../../../../test/support/event-follower.ts'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const planted = ['planted-key-5a1', 'planted-new-key-7c2', 'planted-test-key-9e3', 'planted-password-2f4']
const isPlanted = (text: string) => planted.filter((secret) => text.includes(secret))

test('secrets of sources reach their gateway and nothing else [contract 15.secrets]', async () => {
  const [key = '', newKey = '', testKey = '', secret = ''] = planted
  const site = await newSourceSite(harness, { body: { ...pulseSource, key } })
  const { gateway, source } = site
  const answers: string[] = []
  const call = async (method: string, path: string, body?: object) => {
    const reply = await site.call(method, path, body && { body })
    answers.push(reply.text)
    return reply
  }
  const reader = await follow(site.client)
  expect((await gateway.list()).sources).toMatchObject([{ key }])
  await site.adopt('bar')
  const broker = { type: 'mqtt', gatewayId: gateway.id, url: 'mqtt://broker.example.org', secret }
  const { id } = (await call('POST', '/sources', broker)).body
  await call('POST', '/sources', { ...broker, orgId: 'x' })
  const test = call('POST', '/sources/test', { sourceId: source, key: testKey })
  const wanted = await until('the test is listed', async () => (await gateway.list()).sourceTests[0])
  expect(wanted).toMatchObject({ key: testKey })
  // The row of the test has its secret until the answer.
  expect(isPlanted(await storedText(harness))).toEqual([])
  await gateway.call('POST', `/device/v1/gateway/source-tests/${wanted.id}`, { state: 'REFUSED', reason: 'Refused.' })
  await test
  await call('POST', '/sources/test', { sourceId: source, url: 'https://192.0.2.1' })
  await call('PUT', `/sources/${source}`, { key: newKey })
  expect((await gateway.list()).sources).toMatchObject([{ key: newKey }, { secret }])
  await gateway.reportSource(source, 'REFUSED', { reason: 'It refused the key.' })
  for (const path of ['', `/${source}`, `/${source}/devices`, `/${source}/structure`])
    await call('GET', `/sources${path}`)
  await call('GET', `/gateways/${gateway.id}/devices`)
  await call('GET', '/audit/logs?from=2000-01-01&to=2100-01-01')
  await call('PUT', `/sources/${source}`, { url: 'https://192.0.2.1' })
  expect(isPlanted(JSON.stringify((await gateway.list()).sources))).toEqual([secret])
  for (const one of [source, id]) await call('DELETE', `/sources/${one}`)
  await reader.next('structure', ({ change }) => change?.type === 'SOURCE_DELETED')
  expect(isPlanted(JSON.stringify(reader.events))).toEqual([])
  expect(answers.flatMap(isPlanted)).toEqual([])
  expect(isPlanted(await storedText(harness))).toEqual([])
  expect(harness.logged.length).toBeGreaterThan(0)
  expect(isPlanted(JSON.stringify(harness.logged))).toEqual([])
})

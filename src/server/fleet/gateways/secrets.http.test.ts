// Plants secrets in items and tests of gateways, and searches them in everything that is answered, stored, logged or listed.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { storedText } from '../../../../test/support/database/stored-text.ts'
import { startGateway } from '../../../../test/support/devices/gateway.ts'
import { follow } from '../../../../test/support/event-follower.ts'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const planted = [
  'planted-item-secret-5a1',
  'planted-priv-secret-7c2',
  'planted-test-secret-9e3',
  'planted-new-secret-2f4',
]
const isPlanted = (text: string) => planted.filter((secret) => text.includes(secret))

test('secrets of devices reach their gateway and nothing else [contract 13.secrets]', async () => {
  const [itemSecret = '', privSecret = '', testSecret = '', newSecret = ''] = planted
  const org = await harness.newOrg()
  await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
  const gateway = await startGateway(harness, org, { roomId: 1 })
  await gateway.device.next('devices')
  const answers: string[] = []
  const call = async (method: string, path: string, body?: object) => {
    const reply = await org.call(method, path, body && { body })
    answers.push(reply.text)
    return reply
  }
  const reader = await follow(org.client)
  const items = `/gateways/${gateway.id}/devices`
  const snmp = { driver: 'snmp', host: '10.20.4.20', username: 'ops', roomId: 1 }
  const options = { version: '3', privSecret }
  const { body: item } = await call('POST', items, { ...snmp, secret: itemSecret, options })
  await gateway.device.next('devices')
  const test = call('POST', `${items}/test`, { ...snmp, secret: testSecret, roomId: undefined })
  await gateway.device.next('devices')
  const { tests } = await gateway.list()
  expect(tests).toMatchObject([{ secret: testSecret }])
  // The row of the test has its secret until the answer.
  await searchTables()
  await gateway.answer(tests[0]?.id ?? '', { state: 'REFUSED', reason: 'Wrong digest.' })
  await test
  await call('POST', `${items}/test`, { deviceId: item.id, host: '192.0.2.1' })
  await call('POST', items, { ...snmp, secret: itemSecret, options: { ...options, version: '9' } })
  await call('PUT', `${items}/${item.id}`, { secret: newSecret })
  expect((await gateway.list()).devices).toMatchObject([{ secret: newSecret, options: { privSecret } }])
  await gateway.report(item.id, 'REFUSED', 'Wrong digest.')
  for (const path of [items, `${items}/${item.id}`, '/gateways', `/endpoints/${gateway.id}`]) await call('GET', path)
  await call('POST', `${items}/${item.id}/retry`)
  await call('GET', '/audit/logs?from=2000-01-01&to=2100-01-01')
  await call('PUT', `${items}/${item.id}`, { host: '192.0.2.1' })
  expect(JSON.stringify((await gateway.list()).devices)).not.toContain(newSecret)
  await call('DELETE', `${items}/${item.id}`)
  await reader.next('structure', ({ change }) => change?.type === 'GATEWAY_DEVICE_REMOVED')
  expect(isPlanted(JSON.stringify(reader.events))).toEqual([])
  expect(answers.flatMap(isPlanted)).toEqual([])
  await searchTables()
  expect(harness.logged.length).toBeGreaterThan(0)
  expect(isPlanted(JSON.stringify(harness.logged))).toEqual([])
})

async function searchTables(): Promise<void> {
  const text = await storedText(harness)
  expect(text.length).toBeGreaterThan(1000)
  expect(isPlanted(text)).toEqual([])
}

// The rules of sources: who reads and changes them, their limits, secrets, links and devices. [contract 15.sources]
import { beforeAll, describe, expect, test } from 'vitest'
import { type Fixture, newFixture, sourceDeviceKey } from '../../../../test/support/fixture.ts'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'

let harness: Harness
let f: Fixture
beforeAll(async () => {
  harness = await startHarness()
  f = await newFixture(harness)
})

const pulse = { type: 'neat-pulse', orgId: 'aBcD123', key: 'correct horse' }

test('a source answers its state, its settings and the names of its secrets [contract 15.sources]', async () => {
  const { status, body } = await f.call('GET', `/sources/${f.source}`)
  expect(status).toBe(200)
  expect(body).toMatchObject({
    id: f.source,
    type: 'neat-pulse',
    gatewayId: f.gateway,
    name: 'Neat Pulse',
    url: 'https://api.pulse.neat.no',
    orgId: 'aBcD123',
    write: false,
    secrets: ['key'],
    state: 'NEW',
    devices: { FOUND: 1, ADOPTED: 0, EXCLUDED: 0, missing: 0 },
  })
})

describe('adoption', () => {
  test('an adopted device is an item of the gateway, without an address of its own [contract 15.devices]', async () => {
    const org = await newFixture(harness)
    const decide = (decision: object) =>
      org.call('PUT', `/sources/${org.source}/devices`, { body: { devices: [{ key: sourceDeviceKey, ...decision }] } })
    const adopted = await decide({ state: 'ADOPTED', roomId: org.room, name: 'Bar' })
    expect(adopted.status, adopted.text).toBe(200)
    const [device] = adopted.body.devices
    expect(device).toMatchObject({ state: 'ADOPTED', roomId: org.room, theirRoomName: 'Fjord', deviceState: 'NEW' })
    const item = await org.call('GET', `/gateways/${org.gateway}/devices/${device.deviceId}`)
    expect(item.body).toMatchObject({
      driver: 'neat-pulse',
      host: 'api.pulse.neat.no',
      port: 443,
      sourceId: org.source,
      sourceKey: sourceDeviceKey,
      name: 'Bar',
      secrets: [],
      options: {},
    })
    expect((await decide({ state: 'EXCLUDED' })).body.message).toContain('Remove it with gatewayDevicesDelete')
  })
})

test('a source of a type needs its fields, and refuses those of other types', async () => {
  const create = async (body: object) => {
    const { status, body: answer } = await f.call('POST', '/sources', { body: { gatewayId: f.gateway, ...body } })
    return [status, answer.message]
  }
  expect(await create({ type: 'mqtt' })).toEqual([400, expect.stringContaining('url is required')])
  expect(await create({ ...pulse, username: 'ada' })).toEqual([400, expect.stringContaining('username is not a field')])
})

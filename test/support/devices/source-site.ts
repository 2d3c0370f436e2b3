// An organisation with a gateway that reads a source, for tests: rooms, the source, and devices that are found, adopted and enrolled.
import { expect } from 'vitest'
import type { Harness, Reply, TestOrg } from '../harness.ts'
import { startGateway, type TestGateway } from './gateway.ts'
import { TestDevice } from './test-device.ts'

export interface SourceSite extends TestOrg {
  readonly gateway: TestGateway
  /** A source of the type neat-pulse, CONNECTED. */
  readonly source: string
  /** The rooms Fjord and Fuji; the gateway is in another one. */
  readonly rooms: readonly [number, number]
  decide(...devices: readonly object[]): Promise<Reply>
  /** Reads the devices of the source. */
  devices(query?: string): Promise<Record<string, unknown>[]>
  device(key: string): Promise<Record<string, unknown>>
  /** Finds and adopts a device into the first room, and returns its item. */
  adopt(key: string): Promise<string>
  /** Enrols the device of an item, which connects. */
  connect(item: string): Promise<TestDevice>
}

export const pulseSource = { type: 'neat-pulse', orgId: 'aBcD123', key: 'correct horse' }

let serialNumber = 0

export async function newSourceSite(
  harness: Harness,
  { body = pulseSource }: { body?: object } = {},
): Promise<SourceSite> {
  const org = await harness.newOrg()
  const makeRoom = async (name: string): Promise<number> =>
    (await org.call('POST', '/rooms', { body: { name } })).body.id
  const rooms = [await makeRoom('Fjord'), await makeRoom('Fuji')] as const
  const gateway = await startGateway(harness, org, { roomId: await makeRoom('Server room') })
  const created = await org.call('POST', '/sources', { body: { gatewayId: gateway.id, ...body } })
  expect(created.status, created.text).toBe(200)
  const source: string = created.body.id
  await gateway.reportSource(source, 'CONNECTED')
  const decide: SourceSite['decide'] = (...devices) =>
    org.call('PUT', `/sources/${source}/devices`, { body: { devices } })
  const devices = async (query = '') => (await org.call('GET', `/sources/${source}/devices${query}`)).body.devices
  return {
    ...org,
    gateway,
    source,
    rooms,
    decide,
    devices,
    device: async (key) => (await devices(`?key=${key}`))[0] ?? {},
    adopt: async (key) => {
      expect((await gateway.found(source, [{ key, model: 'NF19B1' }])).status).toBe(200)
      const adopted = await decide({ key, state: 'ADOPTED', roomId: rooms[0] })
      expect(adopted.status, adopted.text).toBe(200)
      return adopted.body.devices[0].deviceId
    },
    connect: async (item) => {
      const serial = `NB${Date.now()}${++serialNumber}`
      const enrolled = await gateway.enrol(item, { serial, model: 'NF19B1', manufacturer: 'Neat' })
      expect(enrolled.status, enrolled.text).toBe(200)
      const device = new TestDevice(harness.mqttPort, serial, 'NF19B1', enrolled.body)
      await device.connect()
      return device
    },
  }
}

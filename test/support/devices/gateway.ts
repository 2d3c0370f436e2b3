// Gateways for tests: one that speaks the protocol of gateways itself, and rows that say through which gateway a device is seen.
import {
  devicePaths,
  type ListedGatewayDevice,
  type ListedGatewayTest,
  type ListedSource,
  type ListedSourceTest,
} from '../../../src/contract/device/protocol.ts'
import type { Harness, Reply, TestOrg } from '../harness.ts'
import { newDevice, type TestDevice } from './test-device.ts'

/** Makes an endpoint the gateway of others. */
export async function putBehindGateway(
  { services }: Pick<Harness, 'services'>,
  gateway: string,
  devices: readonly string[],
): Promise<void> {
  await services.db.systemTransaction(({ kysely }) =>
    kysely.updateTable('endpoints').set({ via: gateway }).where('id', 'in', devices).execute(),
  )
  services.db.invalidateAll()
}

export interface TestGateway {
  readonly id: string
  readonly device: TestDevice
  /** All pages of its list. */
  list(): Promise<{
    version: number
    devices: ListedGatewayDevice[]
    tests: ListedGatewayTest[]
    sources: ListedSource[]
    sourceTests: ListedSourceTest[]
  }>
  enrol(itemId: string, body: { serial?: string; model?: string; manufacturer?: string }): Promise<Reply>
  answer(testId: string, body: unknown): Promise<Reply>
  /** Reports the state of an item, with its present revision. */
  report(itemId: string, state: string, reason?: string): Promise<void>
  /** Reports the state of a source, with its present revision. */
  reportSource(sourceId: string, state: string, values?: object): Promise<void>
  /** Reports devices of a source, with its present revision. */
  found(sourceId: string, devices: readonly object[]): Promise<Reply>
  call(method: string, path: string, body?: unknown): Promise<Reply>
}

/** Enrols a gateway, which connects and reports that it is one. */
export async function startGateway(
  harness: Pick<Harness, 'call' | 'mqttPort'>,
  org: TestOrg,
  wanted: { roomId: number; serial?: string },
): Promise<TestGateway> {
  const device = await newDevice(harness, org, { model: 'RK-GATEWAY', ...wanted })
  await device.publish('status', {
    kind: 'GATEWAY',
    manufacturer: 'Roomkeeper',
    actions: [],
    supports: ['gateway'],
    reach: ['10.20.0.0/16'],
    firmwareVersion: '0.4.0',
  })
  const authorization = `Basic ${btoa(`${device.id}:${device.credential}`)}`
  const call: TestGateway['call'] = (method, path, body) =>
    harness.call(method, path, { headers: { authorization }, ...(body !== undefined && { body }) })
  const list: TestGateway['list'] = async () => {
    const devices: ListedGatewayDevice[] = []
    const tests: ListedGatewayTest[] = []
    const sources: ListedSource[] = []
    const sourceTests: ListedSourceTest[] = []
    for (let token = ''; ; ) {
      const page = await call('GET', `${devicePaths.gatewayDevices}${token && `?pageToken=${token}`}`)
      if (page.status !== 200) throw new Error(page.text)
      devices.push(...page.body.devices)
      tests.push(...page.body.tests)
      sources.push(...(page.body.sources ?? []))
      sourceTests.push(...(page.body.sourceTests ?? []))
      token = page.body.nextPageToken ?? ''
      if (token === '') return { version: page.body.version, devices, tests, sources, sourceTests }
    }
  }
  const revisionOf = async (sourceId: string) => {
    const source = (await list()).sources.find(({ id }) => id === sourceId)
    if (!source) throw new Error(`the list has no source ${sourceId}`)
    return source.revision
  }
  return {
    id: device.id,
    device,
    list,
    call,
    enrol: (itemId, body) =>
      call('POST', `${devicePaths.gatewayDevices}/${itemId}/enrol`, { model: 'Codec Pro', ...body }),
    answer: (testId, body) => call('POST', `${devicePaths.gatewayTests}/${testId}`, body),
    report: async (itemId, state, reason) => {
      const item = (await list()).devices.find(({ id }) => id === itemId)
      if (!item) throw new Error(`the list has no item ${itemId}`)
      const report = { id: itemId, revision: item.revision, state, ...(reason && { reason }) }
      await device.publish('devices', { devices: [report] })
    },
    reportSource: async (id, state, values = {}) =>
      device.publish('sources', { sources: [{ id, revision: await revisionOf(id), state, ...values }] }),
    found: async (id, devices) =>
      call('POST', `${devicePaths.gatewaySources}/${id}/devices`, { revision: await revisionOf(id), devices }),
  }
}

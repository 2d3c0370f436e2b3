// Incidents about sources that a gateway cannot read, over a fixed clock. [contract 10.rule] [contract 15.presence]
import { expect, test } from 'vitest'
import { deviceOfRow } from '../../../../test/support/database/endpoint-rows.ts'
import { type QuietDevice, quietDevices } from '../../../../test/support/incidents/quiet-devices.ts'
import { hourMs, minuteMs } from '../../../contract/durations.ts'
import type { SourceState } from '../../../contract/fleet/sources.ts'
import { storeItemState } from '../../fleet/gateways/states.ts'
import { sourceDevicesUpdate } from '../../fleet/sources/devices.ts'
import { storeFoundDevices, storeSourceStates } from '../../fleet/sources/reports.ts'
import { sourcesCreate, sourcesDelete } from '../../fleet/sources/rules.ts'

const world = quietDevices()
const { newLocation, connect, disconnect, pass, open, all, connectionOf } = world

/** Connects a gateway with sources of these names. */
async function newGateway<const N extends readonly string[]>(...names: N) {
  const { devices, roomIds } = await newLocation(1, 1)
  const [gateway] = devices as [QuietDevice]
  await connect(gateway, { supports: ['gateway'] })
  const sources: string[] = []
  for (const name of names) {
    const body = { type: 'neat-pulse', gatewayId: gateway.id, name, orgId: 'aBcD123', key: 'correct horse' } as const
    sources.push((await sourcesCreate(world.service.ctx, body)).body.id)
  }
  const report = (id: string, state: Exclude<SourceState, 'NEW'>, reason?: string) =>
    storeSourceStates(world.service.services, connectionOf(gateway), {
      sources: [{ id, revision: 1, state, ...(reason !== undefined && { reason }) }],
    })
  return { gateway, room: roomIds[0] as number, sources: sources as { [K in keyof N]: string }, report }
}

test('each source that its gateway cannot read for 10 minutes is one incident with the reason, and ends by itself [contract 10.rule]', async () => {
  const { gateway, sources, report } = await newGateway('Pulse', 'Broker', 'Healthy')
  const [pulse, broker, healthy] = sources
  for (const id of sources) await report(id, 'CONNECTED')
  await pass(minuteMs)
  await report(pulse, 'REFUSED', 'It refused the key.')
  await report(broker, 'UNREACHABLE', 'It does not answer.')
  await pass(5 * minuteMs)
  // Another reason does not start the time anew.
  await report(pulse, 'FAILING', 'It answers with a page.')
  await pass(4 * minuteMs)
  expect(await open()).toEqual([])
  await pass(2 * minuteMs)
  const incidents = await open()
  expect(incidents.map(({ title }) => title.replace(/^.* cannot/, 'cannot')).sort()).toEqual([
    'cannot read Broker: It does not answer.',
    'cannot read Pulse: It answers with a page.',
  ])
  for (const incident of incidents) {
    expect(incident).toMatchObject({
      rule: 'source.failing',
      severity: 'WARNING',
      cause: { level: 'ENDPOINT', id: gateway.id },
      openSubjectCount: 1,
    })
  }
  await report(pulse, 'CONNECTED')
  await pass(3 * minuteMs)
  expect((await open()).map(({ title }) => title)).toEqual([expect.stringContaining('Broker')])
  await sourcesDelete(world.service.ctx, broker)
  await pass(3 * minuteMs)
  expect(await open()).toEqual([])
  expect(await all()).toHaveLength(2)
  await report(healthy, 'CONNECTED')
})

test('while the gateway is away nothing is known about its sources [contract 10.rule]', async () => {
  const { gateway, sources, report } = await newGateway('Pulse')
  await report(sources[0], 'FAILING', 'It answers with a page.')
  await pass(5 * minuteMs)
  await disconnect(gateway)
  await pass(hourMs, 5 * minuteMs)
  expect((await open()).map(({ rule }) => rule)).toEqual(['device.offline'])
  await connect(gateway)
  await pass(9 * minuteMs)
  expect(await open()).toEqual([])
  await pass(2 * minuteMs)
  expect((await open()).map(({ rule }) => rule)).toEqual(['source.failing'])
  await report(sources[0], 'CONNECTED')
  await pass(3 * minuteMs)
  expect(await open()).toEqual([])
})

test('items of a source that is away are left out of gateway.device, and have the whole time after its return [contract 10.rule]', async () => {
  const { gateway, room, sources, report } = await newGateway('Pulse')
  const [source] = sources
  const { services, ctx } = world.service
  const device = deviceOfRow(ctx.org, gateway)
  await report(source, 'CONNECTED')
  const found = { revision: 1, devices: [{ key: 'bar', model: 'NF19B1' }] }
  await storeFoundDevices(services, device, source, found, { ip: '127.0.0.1', requestId: 'test' })
  const decision = { key: 'bar', state: 'ADOPTED', roomId: room } as const
  const [adopted] = (await sourceDevicesUpdate(ctx, source, [decision])).devices
  const item = { id: adopted?.deviceId ?? '', revision: 1, reason: '', duplicateOf: null }
  await storeItemState(services, device, { ...item, state: 'UNREACHABLE' })
  await pass(9 * minuteMs)
  await report(source, 'FAILING')
  await pass(9 * minuteMs)
  expect(await open()).toEqual([])
  await report(source, 'CONNECTED')
  await pass(9 * minuteMs)
  expect(await open()).toEqual([])
  await pass(2 * minuteMs)
  expect((await open()).map(({ rule }) => rule)).toEqual(['gateway.device'])
  await storeItemState(services, device, { ...item, state: 'CONNECTED' })
  await pass(minuteMs)
  expect(await open()).toEqual([])
})

// Incidents about devices that gateways cannot manage, over a fixed clock. [contract 10.rule]
import { expect, test } from 'vitest'
import { deviceOfRow } from '../../../../test/support/database/endpoint-rows.ts'
import { type QuietDevice, quietDevices } from '../../../../test/support/incidents/quiet-devices.ts'
import { hourMs, minuteMs } from '../../../contract/durations.ts'
import type { GatewayDeviceState } from '../../../contract/fleet/gateways.ts'
import { endpointsDelete } from '../../fleet/endpoints/rules.ts'
import { gatewayDevicesCreate, gatewayDevicesDelete } from '../../fleet/gateways/rules.ts'
import { storeItemState } from '../../fleet/gateways/states.ts'

const world = quietDevices()
const { newLocation, connect, disconnect, pass, open } = world
const status = { supports: ['gateway'] }

/** Connects a gateway that has this many items. */
async function newGateway(count: number) {
  const { devices, roomIds } = await newLocation(1, 1)
  const [gateway] = devices as [QuietDevice]
  await connect(gateway, status)
  const items: string[] = []
  for (let i = 0; i < count; i++) {
    const body = { driver: 'reach' as const, host: `10.20.4.${i}`, roomId: roomIds[0] as number }
    items.push((await gatewayDevicesCreate(world.service.ctx, gateway.id, body)).body.id)
  }
  const report = (id: string, state: GatewayDeviceState) => {
    const { services, ctx } = world.service
    const values = { id, revision: 1, state, reason: '', duplicateOf: null }
    return storeItemState(services, deviceOfRow(ctx.org, gateway), values)
  }
  return { gateway, items, report }
}
test('items that are refused, changed, duplicate or never reached for 10 minutes are one incident of their gateway', async () => {
  const { gateway, items, report } = await newGateway(6)
  const [refused, changed, duplicate, unreachable, connected, unplugged] = items as [
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  await report(refused, 'REFUSED')
  await report(changed, 'CHANGED')
  await report(duplicate, 'DUPLICATE')
  await report(unreachable, 'UNREACHABLE')
  for (const id of [connected, unplugged]) await report(id, 'CONNECTED')
  await report(unplugged, 'UNREACHABLE')
  await pass(9 * minuteMs)
  expect(await open()).toEqual([])
  await pass(2 * minuteMs)
  const [incident, ...others] = await open()
  expect(others).toEqual([])
  expect(incident).toMatchObject({
    rule: 'gateway.device',
    severity: 'WARNING',
    cause: { level: 'ENDPOINT', id: gateway.id },
    openSubjectCount: 1,
  })
  expect(incident?.title).toMatch(/ cannot manage 4 devices: 1 refuses the password, /)

  for (const id of [refused, changed, unreachable]) await report(id, 'CONNECTED')
  await pass(minuteMs)
  expect((await open())[0]?.title).toMatch(/ cannot manage 1 device: 1 is enrolled elsewhere$/)
  await gatewayDevicesDelete(world.service.ctx, gateway.id, duplicate)
  await pass(minuteMs)
  expect(await open()).toEqual([])
})

test('while the gateway is away its items neither open nor end, and after its return they have the whole time', async () => {
  const { gateway, items, report } = await newGateway(2)
  const [refused, late] = items as [string, string]
  await report(late, 'CONNECTED')
  await report(refused, 'REFUSED')
  await pass(11 * minuteMs)
  expect((await open()).map(({ rule }) => rule)).toEqual(['gateway.device'])
  await report(late, 'REFUSED')
  await pass(minuteMs)
  await disconnect(gateway)
  world.changeNode()
  await pass(hourMs, 5 * minuteMs)
  expect((await open()).map(({ rule }) => rule).sort()).toEqual(['device.offline', 'gateway.device'])
  const titleNow = async () => (await open()).find(({ rule }) => rule === 'gateway.device')?.title
  expect(await titleNow()).toMatch(/ cannot manage 1 device: /)
  await connect(gateway)
  await pass(9 * minuteMs)
  expect(await titleNow()).toMatch(/ cannot manage 1 device: /)
  await pass(3 * minuteMs)
  expect(await titleNow()).toMatch(/ cannot manage 2 devices: 2 refuse the password$/)
  await endpointsDelete(world.service.ctx, gateway.id, true)
  await pass(2 * minuteMs)
  expect(await open()).toEqual([])
})

// The official MCP client against the simulated fleet: every tool that opens no browser, on every device and room.
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Fleet } from '../../src/simulator/fleet.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { type McpProgram, startOfficialClient, toolNames } from '../support/mcp/mcp-client.ts'
import { until } from '../support/program.ts'

const size = isFullForm
  ? { endpoints: 24, rooms: 10, locations: 4, regions: 2 }
  : { endpoints: 8, rooms: 3, locations: 2, regions: 2 }
const ended = new AbortController()
let harness: Harness
let org: TestOrg
let fleet: Fleet
let client: McpProgram
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
  const server = { url: harness.url, org: org.id, key: org.key, stateFile: join(harness.place.dataDir, 'fleet.json') }
  const behaviour = { seed: 1, speed: 1, intervalSeconds: 60, flapShare: 0, rejectConfig: 0, backfillMs: 0 }
  fleet = new Fleet({ ...server, ...size, ...behaviour }, ended.signal)
  await fleet.build()
  client = await startOfficialClient(harness, org)
})
afterAll(async () => {
  await client.close()
  ended.abort()
  await fleet.stop()
  await harness.close()
})

test('every tool of the official client works with a simulated fleet, without an error', async () => {
  const used = new Set<string>()
  async function use(tool: string, args: object = {}) {
    used.add(tool)
    const { isError, text } = await client.call(tool, args)
    expect(isError, `${tool} ${JSON.stringify(args)}: ${text}`).toBe(false)
    return JSON.parse(text)
  }
  await until('a sample of every device', () => fleet.counters.samples >= size.endpoints)

  const devices: { id: string; serial: string; pairingSerial?: string }[] = await use('list_devices')
  const rooms: { id: number }[] = await use('list_rooms')
  const sizes = { regions: (await use('list_regions')).length, locations: (await use('list_locations')).length }
  expect({ ...sizes, rooms: rooms.length, endpoints: devices.length }).toEqual(size)
  for (const { id: device_id } of devices) {
    const device = await use('get_device', { device_id })
    expect(device).toMatchObject({ connected: true, sensor: { shutterClosed: expect.any(Boolean) } })
    const link = device.networks.find((network: { linkUp: boolean }) => network.linkUp)
    expect(link.addresses[0].address).toBe(`${device.localIpAddress}/24`)
    const config = await use('get_device_config', { device_id })
    expect(config.primaryMode).toBe(device.primaryMode)
  }
  for (const { id: room_id } of rooms) {
    expect(await use('get_room', { room_id })).toMatchObject({ sensor: { people: expect.any(Number) } })
  }

  const follower = devices.find((d) => d.pairingSerial !== undefined && d.pairingSerial !== d.serial)
  const device_id = follower?.id ?? ''
  expect(await use('apply_device_config', { device_id, brightness: 0.25 })).toMatchObject({ brightness: 0.25 })
  await use('send_message_to_device', { device_id, message: 'Hello.' })
  await use('send_message_to_room', { room_id: rooms[0]?.id, message: 'Hello, room.' })
  await use('reboot_device', { device_id })
  const operations = async () => (await org.call('GET', `/endpoints/${device_id}/operations`)).body.operations
  await until('the reboot', async () => (await operations())[0].state === 'SUCCEEDED')
  expect(fleet.counters.reboots, 'with its leader').toBeGreaterThanOrEqual(2)
  expect(fleet.counters.messages).toBeGreaterThanOrEqual(2)
  const state = async () => (await org.call('GET', `/endpoints/${device_id}/config/state`)).body
  await until('the config', async () => (await state()).state === 'DELIVERED')
  expect((await state()).reported.brightness).toBe(0.25)

  const { id: region_id } = await use('create_region', { name: 'Arctic' })
  await use('update_region', { region_id, name: 'The Arctic' })
  const { id: location_id } = await use('create_location', { name: 'Svalbard', region_id })
  await use('update_location', { location_id, name: 'Longyearbyen' })
  const { id: room_id } = await use('create_room', { name: 'Ice', location_id })
  await use('update_room', { room_id, name: 'Thin ice', location_id })
  await use('reset_enrolment_code', { room_id })
  const { endpointIds } = await use('move_device', { device_id, room_id })
  expect(endpointIds.length, 'with its leader').toBeGreaterThanOrEqual(2)
  await use('delete_device', { device_id })
  await use('delete_room', { room_id })
  await use('delete_location', { location_id })
  await use('delete_region', { region_id })
  await until('the devices to know', () => fleet.counters.unenrolled === endpointIds.length)
  expect(await use('list_devices')).toHaveLength(size.endpoints - endpointIds.length)
  expect([...used].sort()).toEqual(toolNames(await client.tools()))
})

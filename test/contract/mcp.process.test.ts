// The official MCP client of the interface, unmodified: every tool that opens no browser, against living devices.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { configKeys } from '../../src/contract/device/config-keys.ts'
import { toolNames } from '../support/mcp/mcp-client.ts'
import { type McpHouse, startMcpHouse, status } from '../support/mcp/mcp-fixture.ts'
import { until } from '../support/program.ts'

let harness: McpHouse
beforeAll(async () => {
  harness = await startMcpHouse()
})
afterAll(() => harness.close())

/** One for each tool; the devices and rooms that it changes for good are its own. */
const uses: Readonly<Record<string, (harness: McpHouse) => Promise<void>>> = {
  async list_devices({ use, bar, fjord }) {
    const listed = await use('list_devices')
    const basic = { id: bar.id, serial: 'NB1', model: 'NF19B1', connected: true, roomId: fjord, roomName: 'Fjord' }
    const { inCallStatus, firmwareVersion } = status
    const ours = {
      connectionTime: expect.any(String),
      latestVersion: '',
      localIpAddress: '192.168.1.20',
      macAddresses: ['rN5IABEi'],
    }
    expect(listed).toContainEqual({ ...basic, inCallStatus, firmwareVersion, ...ours })
    const serials = listed.map(({ serial }: { serial: string }) => serial)
    expect(serials).toEqual(expect.arrayContaining(['NB1', 'NP1', 'NR1']))
  },

  async get_device({ use, refused, enter, now, skog, bar, frame }) {
    const timestamp = Math.floor(now() / 1000)
    const sent = { co2: 420, humidity: 36, temp: 22.5, people: 3 }
    await bar.sample({ timestamp, ...sent })
    const found = await use('get_device', { device_id: bar.id })
    expect(found).toMatchObject({ ...status, id: bar.id, primaryMode: 'apphub', roomName: 'Fjord' })
    expect(found.networks).toEqual([
      {
        type: 'NETWORK_TYPE_ETHERNET',
        linkUp: true,
        macAddress: 'ac:de:48:00:11:22',
        mode: 'NETWORK_MODE_DHCP',
        addresses: [{ address: '192.168.1.20/24', broadcast: '192.168.1.255' }],
        gateway: ['192.168.1.1'],
      },
    ])
    const sample = { ...sent, illumination: 0, voc: 0, vocIndex: 0, ShutterClosed: false, shutterClosed: false }
    expect(found.sensor).toEqual({ ...sample, timestamp: new Date(timestamp * 1000).toISOString() })
    await frame.sample({ shutterClosed: true })
    expect((await use('get_device', { device_id: frame.id })).sensor.shutterClosed).toBe(true)
    const { id: silentId } = await enter({ roomId: skog, serial: 'NP8', model: 'NF19A1' })
    const silent = await use('get_device', { device_id: silentId })
    expect(silent, 'that it has said nothing yet is no error').toMatchObject({ serial: 'NP8', networks: [] })
    expect(silent).not.toHaveProperty('sensor')
    expect(await refused('get_device', { device_id: 'nobody' })).toContain('Requested resource not found')
  },

  async get_device_config({ use, write, bar }) {
    await write('POST', `/endpoints/${bar.id}/config`, { brightness: 0.5 })
    const config = await until('what the device reports', async () => {
      const found = await use('get_device_config', { device_id: bar.id })
      return found.primaryMode && found
    })
    expect(config).toMatchObject({ brightness: 0.5, primaryMode: 'apphub' })
  },

  async apply_device_config({ use, refused, write, enter, tools, skog }) {
    const { properties = {} } = tools.find(({ name }) => name === 'apply_device_config')?.inputSchema ?? {}
    const { device_id: _, ...keys } = properties
    expect(Object.keys(keys).sort(), 'every key of the client is ours').toEqual(Object.keys(configKeys).sort())
    const usual: Record<string, unknown> = { boolean: true, number: 0.85, integer: 2, string: 'a word' }
    const choices = Object.entries(keys).map(([name, { type = '', enum: choice }]) => {
      if (name === 'timezone') return [name, ['Africa/Istanbul', 'Europe/Oslo']] as const
      return [name, choice ?? configKeys[name]?.values ?? [usual[type]]] as const
    })
    const all = Object.fromEntries(choices.map(([name, values]) => [name, values.at(-1)]))
    const { settingsPassword, remoteAccessAdminPassword, ...shown } = all
    const device = await enter({ roomId: skog, serial: 'NB2', model: 'NF19B1' })
    expect(await use('apply_device_config', { device_id: device.id, ...all })).toEqual(shown)
    await until('the device to have it', () => device.settings.wifiEnabled)
    expect(device.settings, 'passwords included').toEqual(all)
    for (const [name, values] of choices) {
      for (const value of values) {
        const answer = await use('apply_device_config', { device_id: device.id, [name]: value })
        expect(answer).toEqual(configKeys[name]?.secret ? shown : { ...shown, [name]: value })
      }
    }
    const wrong = await refused('apply_device_config', { device_id: device.id, brightness: 7 })
    expect(wrong).toMatch(/^Bad Request: Invalid request: .*\n {2}- brightness: /)
    const { profile } = await write('POST', '/profiles', { name: 'Quiet', config: { nightMode: true } })
    await write('PUT', `/endpoints/${device.id}/profile`, { profileId: profile.id })
    expect(await refused('apply_device_config', { device_id: device.id, nightMode: false, usbAudio: false })).toBe(
      'Bad Request: Failed to apply config: attempted to override profile settings: the following fields contain conflicts: [nightMode]',
    )
  },

  async delete_device({ use, refused, enter, skog }) {
    const device = await enter({ roomId: skog, serial: 'NB3', model: 'NF19B1' })
    expect(await use('delete_device', { device_id: device.id })).toEqual({ deleted: device.id })
    await until('the device to know', () => device.isUnenrolled)
    expect(JSON.stringify(await use('list_devices'))).not.toContain(device.id)
    expect(await refused('delete_device', { device_id: device.id })).toContain('Requested resource not found')
  },

  async send_message_to_device({ use, succeeded, bar, pad }) {
    const message = 'The room is booked from noon.\nThank you.'
    expect(await use('send_message_to_device', { device_id: bar.id, message })).toEqual({ notified: bar.id })
    await succeeded('MESSAGE', bar)
    expect(bar.messages).toContain(message)
    expect(pad.messages, 'nobody else').not.toContain(message)
  },

  async move_device({ use, write, made, read, enter, skog }) {
    const leader = await enter({ roomId: skog, serial: 'NB4', model: 'NF19B1' })
    const follower = await enter({ roomId: skog, serial: 'NP4', model: 'NF19A1', pairingSerial: 'NB4' })
    const both = [leader.id, follower.id].sort()
    const moved = async (args: object) => (await use('move_device', args)).endpointIds.sort()
    const fjell = await made('/rooms', { name: 'Fjell' })
    expect(await moved({ device_id: follower.id, room_id: fjell })).toEqual(both)

    const { profile } = await write('POST', '/profiles', { name: 'Loud', config: { bluetooth: true } })
    const home = await made('/rooms', { name: 'Home' })
    await write('PUT', `/rooms/${home}/profile`, { profileId: profile.id })
    const move = { device_id: leader.id, room_id: home }
    const question = { status: 'profile_confirmation_needed', roomProfileId: profile.id }
    expect(await use('move_device', move)).toMatchObject(question)
    expect((await read(`/endpoints/${leader.id}`)).roomName, 'not before somebody has decided').toBe('Fjell')
    expect(await moved({ ...move, assign_room_profile: true })).toEqual(both)
    expect(await read(`/endpoints/${follower.id}`)).toMatchObject({ roomName: 'Home', profileId: profile.id })
    await until('the profile to arrive', () => follower.settings.bluetooth)
  },

  async reboot_device({ use, refused, succeeded, read, enter, skog, bar, pad }) {
    const before = [bar.reboots, pad.reboots]
    expect(await use('reboot_device', { device_id: pad.id })).toEqual({ rebooted: pad.id })
    await succeeded('REBOOT', bar, pad)
    expect([bar.reboots, pad.reboots]).toEqual(before.map((n) => n + 1))
    expect((await read(`/endpoints/${bar.id}`)).connected, 'it is back').toBe(true)
    const away = await enter({ roomId: skog, serial: 'NB7', model: 'NF19B1' })
    await away.stop()
    await until('it to be gone', async () => !(await read(`/endpoints/${away.id}`)).connected)
    expect(await refused('reboot_device', { device_id: away.id })).toMatch(
      /^Bad Request: Operation preconditions not met: /,
    )
  },

  async list_regions({ use, europe, oslo }) {
    const found = { id: europe, name: 'Europe', locations: [{ id: oslo, name: 'Oslo HQ' }] }
    expect(await use('list_regions')).toContainEqual(found)
  },

  async create_region({ use, read }) {
    const created = await use('create_region', { name: 'Asia' })
    expect(created).toEqual({ id: expect.any(Number), name: 'Asia', locations: [] })
    expect((await read('/regions')).regions).toContainEqual(created)
  },

  async update_region({ use, made }) {
    const id = await made('/regions', { name: 'Afrika' })
    expect(await use('update_region', { region_id: id, name: 'Africa' })).toMatchObject({ id, name: 'Africa' })
  },

  async delete_region({ use, refused, made, read }) {
    const id = await made('/regions', { name: 'Atlantis' })
    const harbour = await made('/locations', { name: 'Harbour', regionId: id })
    expect(await refused('delete_region', { region_id: id }), 'the interface wins [interface 15]').toMatch(
      /^Bad Request: Operation preconditions not met: /,
    )
    await use('delete_location', { location_id: harbour })
    expect(await use('delete_region', { region_id: id })).toEqual({ deleted: id })
    expect((await read('/regions')).regions).not.toContainEqual(expect.objectContaining({ id }))
  },

  async list_locations({ use, europe, oslo }) {
    const found = { id: oslo, name: 'Oslo HQ', region: { id: europe, name: 'Europe' } }
    expect(await use('list_locations')).toContainEqual(found)
  },

  async create_location({ use, europe }) {
    expect(await use('create_location', { name: 'Moon' })).toEqual({ id: expect.any(Number), name: 'Moon' })
    const created = await use('create_location', { name: 'Bergen', region_id: europe })
    expect(created).toMatchObject({ name: 'Bergen', region: { id: europe, name: 'Europe' } })
  },

  async update_location({ use, made, europe }) {
    const id = await made('/locations', { name: 'Tromso', regionId: europe })
    const region = { id: europe, name: 'Europe' }
    expect(await use('update_location', { location_id: id, name: 'Tromsø' })).toEqual({ id, name: 'Tromsø', region })
    const arctic = await made('/regions', { name: 'Arctic' })
    const moved = await use('update_location', { location_id: id, name: 'Tromsø', region_id: arctic })
    expect(moved.region).toEqual({ id: arctic, name: 'Arctic' })
  },

  async delete_location({ use, made, read }) {
    const id = await made('/locations', { name: 'Barn' })
    const room = await made('/rooms', { name: 'Hay', locationId: id })
    expect(await use('delete_location', { location_id: id })).toEqual({ deleted: id })
    expect(await read(`/rooms/${room}`), 'its rooms stay').not.toHaveProperty('location')
  },

  async list_rooms({ use, fjord, skog }) {
    const listed = await use('list_rooms')
    expect(listed).toContainEqual(expect.objectContaining({ id: fjord, name: 'Fjord' }))
    expect(listed).toContainEqual(expect.objectContaining({ id: skog, name: 'Skog' }))
  },

  async get_room({ use, made, now, europe, oslo, fjord, bar, pad }) {
    const timestamp = Math.floor(now() / 1000) + 1
    await bar.sample({ timestamp, people: 4, temp: 21 })
    await pad.sample({ timestamp, temp: 22 })
    const found = await use('get_room', { room_id: fjord })
    const location = { id: oslo, name: 'Oslo HQ', region: { id: europe, name: 'Europe' } }
    expect(found).toMatchObject({ id: fjord, name: 'Fjord', location })
    expect(found.devices).toHaveLength(2)
    expect(found.devices).toContainEqual({ id: bar.id, serial: 'NB1', model: 'NF19B1', connected: true })
    const follower = { id: pad.id, serial: 'NP1', model: 'NF19A1', connected: true, pairingSerial: 'NB1' }
    expect(found.devices).toContainEqual(follower)
    expect(found.sensor).toMatchObject({ people: 4, temp: 21.5, shutterClosed: false })
    expect(Date.parse(found.device_enrollment_code_expires_at), 'it was used').toBeGreaterThan(now())

    const empty = await use('get_room', { room_id: await made('/rooms', { name: 'Loft' }) })
    expect(empty).toMatchObject({ devices: [], device_enrollment_code: expect.stringMatching(/^[A-Z2-9-]{14}$/) })
    expect(empty).not.toHaveProperty('device_enrollment_code_expires_at')
    expect(empty).not.toHaveProperty('sensor')
  },

  async create_room({ use, read, enter, oslo }) {
    const created = await use('create_room', { name: 'Dal', location_id: oslo })
    expect(created).toMatchObject({ name: 'Dal', location: { id: oslo }, dec: expect.any(String) })
    const device = await enter({ roomId: created.id, serial: 'NB5', model: 'NF19B1' })
    expect((await read(`/endpoints/${device.id}`)).roomName).toBe('Dal')
  },

  async update_room({ use, made, oslo }) {
    const id = await made('/rooms', { name: 'Hytte' })
    const moved = await use('update_room', { room_id: id, name: 'Hytte 2', location_id: oslo })
    expect(moved).toMatchObject({ id, name: 'Hytte 2', location: { id: oslo } })
    const cleared = await use('update_room', { room_id: id, name: 'Hytte 3' })
    expect(cleared.name).toBe('Hytte 3')
    expect(cleared, 'a location that is left out is cleared').not.toHaveProperty('location')
  },

  async reset_enrolment_code({ use, made, read }) {
    const id = await made('/rooms', { name: 'Stue' })
    const { dec } = await read(`/rooms/${id}`)
    const renewed = await use('reset_enrolment_code', { room_id: id })
    expect(renewed).toEqual({ dec: expect.any(String) })
    expect(renewed.dec).not.toBe(dec)
    expect((await read(`/rooms/${id}`)).dec).toBe(renewed.dec)
  },

  async delete_room({ use, refused, made, enter }) {
    const id = await made('/rooms', { name: 'Kjeller' })
    const device = await enter({ roomId: id, serial: 'NB6', model: 'NF19B1' })
    expect(await use('delete_room', { room_id: id })).toEqual({ deleted: id })
    await until('its device to know', () => device.isUnenrolled)
    expect(await refused('get_device', { device_id: device.id })).toContain('Requested resource not found')
    expect(await refused('get_room', { room_id: id })).toContain('Requested resource not found')
  },

  async send_message_to_room({ use, made, succeeded, fjord, bar, pad, frame }) {
    const message = 'Fire drill at noon.'
    expect(await use('send_message_to_room', { room_id: fjord, message })).toEqual({ notified: fjord })
    await succeeded('MESSAGE', bar, pad)
    for (const device of [bar, pad]) expect(device.messages).toContain(message)
    expect(frame.messages, 'it is in another room').not.toContain(message)
    const nobody = await made('/rooms', { name: 'Empty' })
    expect(await use('send_message_to_room', { room_id: nobody, message })).toEqual({ notified: nobody })
  },
}

test('every tool of the client is used here, except the one that opens a browser', () => {
  expect(Object.keys(uses).sort()).toEqual(toolNames(harness.tools))
})

test.each(Object.keys(uses))('%s works through the official client', (tool) => uses[tool]?.(harness))

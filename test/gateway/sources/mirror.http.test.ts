// A real gateway mirrors one Roomkeeper, which plays Neat Pulse, into another: both sides agree, also after changes and failures.
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { minuteMs, secondMs } from '../../../src/contract/durations.ts'
import { storedText } from '../../support/database/stored-text.ts'
import type { LiveDevice } from '../../support/devices/agent-device.ts'
import { folderContent } from '../../support/gateway/gateway-world.ts'
import type { Harness } from '../../support/harness.ts'
import { runCount } from '../../support/long-form.ts'
import { type McpProgram, startOfficialClient, toolNames } from '../../support/mcp/mcp-client.ts'
import { until } from '../../support/program.ts'
import { MirrorWorld, pulseTable, sameFields, startTwo } from '../../support/sources/mirror-world.ts'
import type { Fault } from '../../support/sources/upstream-proxy.ts'

let upstream: Harness
let harness: Harness
beforeAll(async () => {
  ;({ upstream, harness } = await startTwo())
})
afterAll(() => Promise.all([upstream.close(), harness.close()]))

const pairCount = runCount({ short: 3, long: 100 })

test('all devices are mirrored read only; after changes on the other side both agree again, and nothing was written there', async () => {
  const world = await MirrorWorld.start(harness, upstream, { pairCount })
  await world.untilSame(5 * minuteMs)
  const fields = await world.fieldsWithValues()
  expect(sameFields.filter((name) => !fields.has(name))).toEqual([])
  expect(fields.size).toBeGreaterThanOrEqual(40)
  const pairs = await world.pairs()
  expect(pairs).toHaveLength(2 * pairCount + 1)
  for (const [, ours] of pairs) expect(await world.read(`/endpoints/${ours}`)).toMatchObject({ actions: [] })
  const round = async (count: number) => {
    const device = world.devices[(count * 7) % world.devices.length] as LiveDevice
    await world.write(world.there, 'PUT', `/endpoints/${device.id}`, { name: `Renamed ${count}` })
    await world.write(world.there, 'POST', `/endpoints/${device.id}/config`, { brightness: (count % 10) / 10 })
    device.reportStatus({ volume: count % 100, inCallStatus: count % 2 ? 'ZOOM' : 'NONE' })
    await device.sample({ co2: 500 + count, temp: 22 })
    const roomId = world.rooms[count % world.rooms.length] as number
    const flapping = world.devices[(count * 5 + 2) % world.devices.length] as LiveDevice
    await flapping.stop()
    await world.write(world.there, 'POST', '/endpoints/move_paired', { endpointIds: [device.id], roomId })
    await flapping.start()
  }
  for (let i = 1; i <= runCount({ short: 6, long: 300 }); i++) await round(i)
  const last = world.devices[0] as LiveDevice
  await last.stop()
  await world.untilSame(90_000)
  const { devices } = await world.read(`/sources/${world.source}/devices`)
  expect(devices).toHaveLength(2 * pairCount + 1)
  await until('the rooms there are known', async () => {
    const { devices: found } = await world.read(`/sources/${world.source}/devices`)
    const { endpoints } = await world.readThere('/endpoints')
    return endpoints.every(({ id, roomId }: { id: string; roomId: number }) =>
      found.some((one: { key: string; theirRoomId: string }) => one.key === id && one.theirRoomId === String(roomId)),
    )
  })
  expect(world.proxy.writes).toEqual([])
  await world.stop()
})

test('settings are changed on both sides: profiles here are not sent, each side keeps what was set last, and the exchange ends', async () => {
  const world = await MirrorWorld.start(harness, upstream, { pairCount: 1, write: true })
  await world.untilSame()
  const [[theirs, before]] = (await world.pairs()) as [[string, string]]
  const quiet = { name: 'Quiet', config: { usbAudio: true } }
  const profileHere = (await world.write(world.here, 'POST', '/profiles', quiet)).profile.id
  const { roomId } = await world.read(`/endpoints/${before}`)
  await world.write(world.here, 'PUT', `/rooms/${roomId}/profile`, { profileId: profileHere })
  // Adopted again, it comes into a room that has a profile.
  expect((await world.here.call('DELETE', `/endpoints/${before}`)).status).toBe(200)
  const adoption = { devices: [{ key: theirs, state: 'ADOPTED', roomId }] }
  await world.write(world.here, 'PUT', `/sources/${world.source}/devices`, adoption)
  await until('it is enrolled again', async () => new Map(await world.pairs()).get(theirs))
  await world.untilSame()
  expect(world.proxy.writes).toEqual([])
  expect((await world.read('/incidents?state=OPEN')).incidents).toEqual([])
  const ours = new Map(await world.pairs()).get(theirs)
  const setHere = (config: object) => world.write(world.here, 'POST', `/endpoints/${ours}/config`, config)
  const setThere = (config: object) => world.write(world.there, 'POST', `/endpoints/${theirs}/config`, config)
  await setHere({ brightness: 0.3, bluetooth: true })
  await until('it is there', async () => (await world.readThere(`/endpoints/${theirs}/config`)).bluetooth === true)
  await setThere({ brightness: 0.8 })
  await world.untilSame()
  await setHere({ nightMode: true })
  await until(
    'it is delivered',
    async () => (await world.read(`/endpoints/${ours}/config/state`)).state === 'DELIVERED',
  )
  await world.untilSame()
  expect(await world.readThere(`/endpoints/${theirs}/config`)).toMatchObject({ brightness: 0.8, nightMode: true })
  const { profile } = await world.write(world.there, 'POST', '/profiles', { name: 'Quiet', config: { usbAudio: true } })
  await world.write(world.there, 'PUT', `/endpoints/${theirs}/profile`, { profileId: profile.id })
  await setHere({ usbAudio: false })
  const { rejected } = await until('it is refused', async () => {
    const state = await world.read(`/endpoints/${ours}/config/state`)
    return state.state === 'FAILED' && state
  })
  expect(rejected.usbAudio).toContain('conflicts: [usbAudio]')
  expect(world.proxy.writes.map(({ body }) => JSON.parse(body))).toEqual([
    { brightness: 0.3, bluetooth: true },
    { nightMode: true },
    { usbAudio: false },
  ])
  await world.stop()
})

test('commands of people reach the devices once: a restart of the pair, a message, and logs with the support ID', async () => {
  const world = await MirrorWorld.start(harness, upstream, { pairCount: 1, write: true })
  await world.untilSame()
  const [bar, pad] = world.devices as [LiveDevice, LiveDevice]
  const pairs = new Map(await world.pairs())
  const ours = pairs.get(bar.id) as string
  const done = (id: string) => {
    let operation: unknown
    return until('the operation ends', async () => {
      operation = await world.read(`/operations/${id}`)
      const { state } = operation as { state: string }
      return /SUCCEEDED|FAILED|EXPIRED/.test(state) && (operation as { state: string; error?: string })
    }).catch((error: Error) => {
      throw new Error(
        `${error.message}: ${JSON.stringify(operation)}\n${world.gateway.running.lines.slice(-9).join('\n')}`,
      )
    })
  }
  const { operations } = await world.write(world.here, 'POST', `/endpoints/${ours}/reboot`)
  expect(operations).toHaveLength(2)
  for (const { id } of operations) expect(await done(id)).toMatchObject({ state: 'SUCCEEDED' })
  await until('both restarted', () => bar.reboots + pad.reboots === 2)
  // A message that comes while the agent of its device reconnects would fail as not known.
  await pause(secondMs)
  await world.untilSame()
  const message = { message: 'Hello', endpointIds: [ours] }
  const sent = await world.write(world.here, 'POST', '/endpoints/send_message', message)
  expect(await done(sent.operations[0].id)).toMatchObject({ state: 'SUCCEEDED' })
  expect(bar.messages).toEqual(['Hello'])
  const answer = await world.here.call('POST', '/endpoints/generate_bug_report', { body: [ours] })
  const file = await until('the logs', async () => {
    const [report] = (await world.read(`/bug_reports/${answer.body.supportId}`)).endpoints
    return report.state === 'UPLOADED' && report.file
  })
  expect(file).toBeTruthy()
  expect(world.proxy.writes.map(({ path }) => path)).toEqual([
    expect.stringMatching(/^\/endpoints\/.*\/reboot$/),
    '/endpoints/send_message',
    expect.stringContaining('/endpoints/generate_bug_report'),
  ])
  await world.stop()
})

const page = { status: 200, text: '<html>Sign in</html>', headers: { 'content-type': 'text/html' } }
/** The device that answers lack. */
let lacking = ''
const withoutDevice = (text: string): string => {
  const isLeft = ({ id, endpointId = id }: { id?: string; endpointId?: string }) => endpointId !== lacking
  const lists = Object.entries<{ id?: string; endpointId?: string }[]>(JSON.parse(text))
  return JSON.stringify(
    Object.fromEntries(lists.map(([name, value]) => [name, Array.isArray(value) ? value.filter(isLeft) : value])),
  )
}
const cut = 'a list and samples without a device'
const elsewhere = { status: 302, headers: { location: 'http://127.0.0.1:1/' } }
/** The first ones are tried in each `npm test`. A refused key is tried again after two minutes. */
const failures: readonly (readonly [string, Fault, string])[] = [
  ['an empty list', { status: 200, text: '{"endpoints":[],"data":[]}' }, 'FAILING'],
  ['500', { status: 500, text: '{"message":"Oh."}' }, 'FAILING'],
  [cut, { change: withoutDevice, path: /^\/endpoints(\/sensor)?$/ }, 'FAILING'],
  ['a redirect', elsewhere, 'FAILING'],
  ['a web page', page, 'FAILING'],
  ['a list without a device', { change: withoutDevice, path: /^\/endpoints$/ }, 'FAILING'],
  ['an answer that is not JSON', { status: 200, text: '{"endpoints":[,]}' }, 'FAILING'],
  ['a part of an answer', { change: (text) => text.slice(0, text.length / 2) }, 'FAILING'],
  ['a changed type', { change: (text) => text.replaceAll('"connected":true', '"connected":1') }, 'FAILING'],
  ['429', { status: 429, headers: { 'retry-after': '1' } }, 'FAILING'],
  ['503', { status: 503, headers: { 'retry-after': '1' } }, 'FAILING'],
  ['a closed connection', 'lost before', 'UNREACHABLE'],
  ['a refused key', { status: 401 }, 'REFUSED'],
]

test('the official client says the same on both sides, apart from the fields that docs/pulse.md lists, and the key of the source is nowhere', async () => {
  const world = await MirrorWorld.start(harness, upstream, { pairCount: 2, write: true })
  await world.untilSame()
  // Half of the rooms here have a profile, which is not sent there.
  expect((await world.read('/rooms')).rooms.filter((room: { profileId?: number }) => room.profileId)).toHaveLength(1)
  expect(world.proxy.writes).toEqual([])
  expect((await world.read('/incidents?state=OPEN')).incidents).toEqual([])
  const clients = [
    await startOfficialClient(upstream, world.there),
    await startOfficialClient(harness, world.here),
  ] as [McpProgram, McpProgram]
  const pairs = await world.pairs()
  const withTheirIds = (text: string) =>
    pairs.reduce((changed, [theirs, ours]) => changed.replaceAll(ours, theirs), text)
  const used = new Set<string>()
  /** Calls the tool on both sides. */
  const answersOf = (tool: string, args: readonly [object, object], pick: (answer: unknown) => unknown) =>
    Promise.all(
      clients.map(async (client, i) => {
        const { isError, text } = await client.call(tool, args[i])
        expect(isError, `${tool}: ${text}`).toBe(false)
        return comparable(pick(JSON.parse(i === 0 ? text : withTheirIds(text))))
      }),
    )
  const compare = async (tool: string, args: readonly [object, object], pick = (answer: unknown) => answer) => {
    used.add(tool)
    let answers = await answersOf(tool, args, pick)
    // The values that the tool reads can have changed there a moment ago.
    for (let i = 0; i < 50 && /^(list|get)_/.test(tool) && !isDeepStrictEqual(answers[0], answers[1]); i++) {
      await pause(200)
      answers = await answersOf(tool, args, pick)
    }
    expect(answers[1], tool).toEqual(answers[0])
    expect(JSON.stringify(answers[0]).length, tool).toBeGreaterThan(2)
  }
  const devices = pairs.map(([theirs, ours]) => [{ device_id: theirs }, { device_id: ours }] as const)
  const { rooms } = await world.read(`/sources/${world.source}/structure`)
  const roomIds = rooms.map(({ id, linkedId }: { id: string; linkedId: number }) => [
    { room_id: Number(id) },
    { room_id: linkedId },
  ])
  const guide = readFileSync('docs/pulse.md', 'utf8')
  expect(notCompared.filter((name) => !guide.includes(`\`${name}\``))).toEqual([])
  // The gateway and its room are here only.
  const serials = new Set(world.devices.map(({ serial }) => serial))
  const bySerial = (answer: unknown) =>
    (answer as { serial: string }[])
      .filter(({ serial }) => serials.has(serial))
      .sort((a, b) => (a.serial < b.serial ? -1 : 1))
  const inRooms = (answer: unknown) =>
    (answer as { name: string }[])
      .filter(({ name }) => name.startsWith('Room '))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  await compare('list_devices', [{}, {}], bySerial)
  await compare('list_rooms', [{}, {}], inRooms)
  for (const args of devices) {
    await compare('get_device', args)
    await compare('get_device_config', args)
  }
  for (const args of roomIds) await compare('get_room', args)
  const [first] = devices as [(typeof devices)[number]]
  const text = { message: 'Hello from the client' }
  await compare('send_message_to_device', [
    { ...first[0], ...text },
    { ...first[1], ...text },
  ])
  await compare('apply_device_config', [
    { ...first[0], brightness: 0.25 },
    { ...first[1], brightness: 0.25 },
  ])
  await compare('reboot_device', first)
  // The other tools change regions, locations, rooms and enrolments, which are not those of the source.
  const others = toolNames(await clients[0].tools()).filter((name) => !used.has(name))
  expect(
    others.filter((name) => !/^(create|update|delete|move|reset)_|_to_room$|^list_(regions|locations)$/.test(name)),
  ).toEqual([])
  await Promise.all(clients.map((client) => client.close()))
  const everything = [
    await storedText(harness),
    JSON.stringify(harness.logged),
    JSON.stringify(await world.read('/sources')),
    JSON.stringify(await world.read('/audit/logs?from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z')),
    folderContent(world.gateway.folder),
    world.gateway.running.lines.join('\n'),
  ].join('\n')
  expect(everything).toContain(world.source)
  expect(everything).not.toContain(world.key)
  await world.stop()
})

/** The fields of the answers that are not compared; docs/pulse.md lists them too. Everything else must be the same. */
const notCompared: readonly string[] = [
  // Identifiers: each side has its own.
  ...['id', 'roomId', 'profileId'],
  // When a device enrolled and connected, and whether the newest settings that were sent from this side have arrived.
  ...['enrolmentTime', 'connectionTime', 'since', 'configState'],
  // The code with which devices enrol into a room.
  ...['device_enrollment_code', 'device_enrollment_code_expires_at', 'enrolmentUrl'],
  // How the device is reached, which Neat Pulse does not have: here through a gateway and its source.
  ...['via', 'hasGateway', 'sourceType', 'actions', 'supports'],
]

function comparable(answer: unknown): unknown {
  // Devices of a room are in the order of their identifiers.
  if (Array.isArray(answer)) return answer.map(comparable).sort((a, b) => (serialOf(a) < serialOf(b) ? -1 : 1))
  if (typeof answer !== 'object' || answer === null) return answer
  const left = Object.entries(answer).filter(([name]) => !notCompared.includes(name))
  return Object.fromEntries(left.map(([name, value]) => [name, comparable(value)]))
}

const serialOf = (value: unknown): string => (value as { serial?: string } | null)?.serial ?? ''

// This is the last test: it moves the clock here ahead of the other side's, so the values of its rooms get too old.
test('every failure of the source is one incident; its devices are UNKNOWN, none is deleted, and all are back by themselves', async () => {
  const world = await MirrorWorld.start(harness, upstream, { pairCount: 1 })
  await world.untilSame()
  const states = async () => (await world.read('/endpoints')).endpoints.map(({ state = 'ONLINE' }) => state)
  const ours = (await world.pairs()).map(([, id]) => id)
  lacking = world.devices[0]?.id ?? ''
  harness.clock.advance(10 * minuteMs)
  const count = runCount({ short: 3, full: 6, long: failures.length })
  for (const [name, fault, state] of failures.slice(0, count)) {
    world.proxy.fault = ({ path }) =>
      typeof fault === 'object' && 'change' in fault && fault.path?.test(path) === false ? undefined : fault
    await until(`${name}: the source is away`, async () => (await world.sourceState()) === state)
    await until(`${name}: its devices are unknown`, async () => {
      const found = await Promise.all(ours.map((id) => world.read(`/endpoints/${id}`)))
      return found.every((endpoint) => endpoint.state === 'UNKNOWN')
    })
    harness.clock.advance(11 * minuteMs)
    const incidents = await until(`${name}: the incident`, async () => {
      const found = (await world.read('/incidents?state=OPEN')).incidents
      return found.length > 0 && found
    })
    expect(
      incidents.map(({ rule }: { rule: string }) => rule),
      name,
    ).toEqual(['source.failing'])
    if (name === cut) {
      // Neither new sessions nor a new gateway take it for complete.
      await world.gateway.restart({ sources: pulseTable() })
      const lookupCount = () => world.proxy.requests.filter(({ path }) => path === `/endpoints/${lacking}`).length
      const before = lookupCount()
      await until('two more sessions have looked for the device', () => lookupCount() >= before + 2)
      expect(await world.sourceState()).toBe(state)
    }
    expect((await world.read(`/sources/${world.source}`)).devices).toMatchObject({ ADOPTED: 3, missing: 0 })
    world.proxy.fault = () => undefined
    await until(`${name}: all are back`, async () => (await states()).every((one: string) => one === 'ONLINE'), {
      timeoutMs: 240_000,
    })
    await until(`${name}: the incident is over`, async () => {
      // The incident ends when the source could be read for a while.
      harness.clock.advance(minuteMs)
      return (await world.read('/incidents?state=OPEN')).incidents.length === 0
    })
  }
  await world.untilSame()
  await world.stop()
})

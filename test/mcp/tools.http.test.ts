// The tools over HTTP, as the official client and the older SDK call them. [contract 17.mcp] [contract 17.confirm]
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { minuteMs } from '../../src/contract/durations.ts'
import { isGuarded } from '../../src/mcp/tool.ts'
import { tools } from '../../src/mcp/tool-table.ts'
import { type Harness, hasOneNode, startHarness } from '../support/harness.ts'
import { newIncident } from '../support/incidents.ts'
import { connectOfficial, connectOlder, type ToolClient } from '../support/mcp/tool-client.ts'
import { newTwoRegions, type TwoRegions } from '../support/places/two-regions.ts'

let harness: Harness
let places: TwoRegions
let key: string
let client: ToolClient
const clients: ToolClient[] = []
const connect = async (token: string, how = connectOfficial) => {
  const connected = await how(harness.url, token)
  clients.push(connected)
  return connected
}
beforeAll(async () => {
  harness = await startHarness()
  places = await newTwoRegions(harness)
  await newIncident(harness, places.org, { endpoints: [places.mine.endpoint] })
  await newIncident(harness, places.org, { endpoints: [places.other.endpoint] })
  key = await places.org.newKey({ name: 'Assistant', scopes: ['read', 'write'] })
  client = await connect(key)
})
afterAll(async () => {
  for (const one of clients) await one.close()
  await harness.close()
})

const use = async (tool: string, args: object = {}, by = client) => {
  const { isError, text } = await by.call(tool, args)
  expect(isError, `${tool}: ${text}`).toBe(false)
  return JSON.parse(text)
}
const refused = async (tool: string, args: object, by = client) => {
  const { isError, text } = await by.call(tool, args)
  expect(isError, `${tool}: ${text}`).toBe(true)
  return text
}
const jobs = async () => (await places.org.call('GET', '/jobs')).body.jobs
const restartMine = () => ({ locationId: places.mine.location, model: 'bar' })

describe.each([
  ['the official client', connectOfficial],
  ['the older SDK', connectOlder],
] as const)('%s', (_, how) => {
  test('lists the tools and calls them', async () => {
    const connected = await connect(key, how)
    const listed = await connected.tools()
    expect(listed.map(({ name }) => name)).toEqual(tools.map(({ name }) => name))
    expect(await use('whoami', {}, connected)).toMatchObject({
      actor: { name: 'Assistant' },
      scopes: ['read', 'write'],
    })
    const { locations } = await use('list_places', {}, connected)
    expect(locations).toContainEqual({
      ...{ id: places.mine.location, name: 'MINE site', regionId: places.mine.region, regionName: 'MINE' },
      rooms: 1,
    })
    expect(await refused('find_rooms', { nmae: 'Fjord' }, connected)).toMatch(/Invalid arguments: .*search/)
    expect(await refused('get_room', { roomId: 99 }, connected)).toMatch(/no room 99\. \(404\)/)
    expect(await refused('no_such_tool', {}, connected)).toMatch(/There is no tool no_such_tool/)
  })
})

test('docs/data-out.md lists every tool', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../docs/data-out.md'), 'utf8')
  const listed = [...guide.matchAll(/^\| `(\w+)` \| (\w+) \| (confirm)? ?\| (.+) \|$/gm)].map((match) => match.slice(1))
  expect(listed).toEqual(
    tools.map((tool) => [tool.name, tool.needs, isGuarded(tool) ? 'confirm' : undefined, tool.title]),
  )
})

test('tools answer the questions that they are for', async () => {
  const { mine } = places
  const room = await use('explain_room', { roomId: mine.room })
  expect(room).toMatchObject({ room: { name: 'MINE room' }, devices: [{ id: mine.endpoint }] })
  expect(room.openIncidents).toMatchObject([{ severity: 'WARNING', hint: expect.any(String) }])
  expect(await use('find_rooms', { search: 'other' })).toMatchObject({ total: 1, rooms: [{ name: 'OTHER room' }] })
  expect(await use('find_devices', { model: 'bar', regionId: mine.region })).toMatchObject({
    ...{ total: 1, devices: [{ name: expect.stringContaining('Bar'), kind: 'CODEC', roomName: 'MINE room' }] },
  })
  expect(await use('overview')).toMatchObject({
    rooms: { total: 3 },
    devices: { total: 3 },
    openIncidents: { WARNING: 2 },
  })
  expect(await use('room_use', { days: 7, sort: '-use' })).toMatchObject({
    rows: expect.arrayContaining([expect.objectContaining({ room: { id: mine.room, name: 'MINE room' } })]),
    hasMore: false,
  })
  expect(await use('room_air')).toMatchObject({
    limits: { co2: { max: 1000 } },
    rows: expect.any(Array),
    hasMore: false,
  })
  expect(await use('room_availability', { days: 3, groupBy: 'location' })).toMatchObject({
    availabilityTarget: expect.any(Number),
    rows: expect.arrayContaining([expect.objectContaining({ location: { id: mine.location, name: 'MINE site' } })]),
  })
  const report = await use('incident_report', { days: 7, groupBy: 'room' })
  expect(report).toMatchObject({ counts: { incidents: 2 }, hasMore: false })
  expect(report.rows.map(({ room }: { room?: { name: string } }) => room?.name)).toEqual(['MINE room', 'OTHER room'])
  const text = JSON.stringify(await use('get_room', { roomId: mine.room }))
  const { dec, enrolmentUrl } = (await places.org.call('GET', `/rooms/${mine.room}`)).body
  expect(text).not.toContain(dec)
  expect(text).not.toContain(enrolmentUrl)
})

test('a note is written with the rights of the key, and the audit log names it', async () => {
  await use('add_room_note', { roomId: places.mine.room, note: 'The cable is on order.' })
  const [entry] = await places.org.audit()
  expect(entry).toMatchObject({ type: 'ROOM_NOTE_CREATED', actor: { type: 'KEY', name: 'Assistant' } })
  const reader = await connect(await places.org.newKey({ scopes: ['read'] }))
  expect((await reader.tools()).map(({ name }) => name)).toEqual(
    tools.filter(({ needs }) => needs === 'read').map(({ name }) => name),
  )
  expect(await refused('add_room_note', { roomId: places.mine.room, note: 'No.' }, reader)).toMatch(/may not use it/)
  const { notes } = (await places.org.call('GET', `/rooms/${places.mine.room}/notes`)).body
  expect(notes.map(({ note }: { note: string }) => note)).toEqual(['The cable is on order.', 'MINE note'])
})

test('a destructive tool says what would happen, and does it once when it is confirmed [contract 17.confirm]', async () => {
  const before = (await places.org.audit()).length
  const plan = await use('restart_devices', restartMine())
  expect(plan).toMatchObject({
    done: false,
    wouldHappen: { what: 'Restart', whenEmpty: true, devices: 1, firstDevices: [{ roomName: 'MINE room' }] },
    confirmation: expect.any(String),
  })
  expect((await places.org.audit()).length).toBe(before)
  const confirmed = { ...restartMine(), confirmation: plan.confirmation }
  const { done, jobId } = await use('restart_devices', confirmed)
  expect(done).toBe(true)
  expect((await jobs())[0]).toMatchObject({ id: jobId, action: { type: 'REBOOT' } })
  expect((await places.org.call('GET', `/jobs/${jobId}`)).body.respect.idle).toBe(true)
  // The job may have begun by now, which is an entry too.
  const created = (await places.org.audit()).filter(({ type }) => type === 'JOB_CREATED')
  expect(created).toMatchObject([{ actor: { type: 'KEY', name: 'Assistant' } }])
  expect(await use('restart_devices', confirmed)).toMatchObject({ jobId })
  expect(await jobs()).toHaveLength(1)
  const cancel = await use('cancel_job', { jobId })
  await use('cancel_job', { jobId, confirmation: cancel.confirmation })
  expect((await use('get_job', { jobId })).state).toMatch(/CANCEL/)
})

test('a confirmation of another call, caller, time or device is refused, and nothing happens [contract 17.confirm]', async () => {
  const count = (await places.org.audit()).length
  const { confirmation } = await use('restart_devices', restartMine())
  const other = /not for this call/
  expect(await refused('restart_devices', { ...restartMine(), whenEmpty: false, confirmation })).toMatch(other)
  expect(await refused('restart_devices', { locationId: places.other.location, model: 'bar', confirmation })).toMatch(
    other,
  )
  expect(await refused('switch_power', { ...restartMine(), on: false, confirmation })).toMatch(
    /cannot|other|not for this call/,
  )
  const stranger = await connect(await places.org.newKey({ scopes: ['read', 'write'] }))
  expect(await refused('restart_devices', { ...restartMine(), confirmation }, stranger)).toMatch(other)
  expect(await refused('restart_devices', { ...restartMine(), confirmation: 'yes' })).toMatch(other)
  harness.clock.advance(5 * minuteMs)
  expect(await refused('restart_devices', { ...restartMine(), confirmation })).toMatch(/older than 5 minutes/)
  const later = await use('restart_devices', restartMine())
  // Only the key of the stranger was made.
  expect((await places.org.audit()).length - count).toBe(1)
  const moved = { endpointIds: [places.other.endpoint], roomId: places.mine.room }
  await places.org.call('POST', '/endpoints/move_paired', { body: moved })
  expect(await refused('restart_devices', { ...restartMine(), confirmation: later.confirmation })).toMatch(other)
  await places.org.call('POST', '/endpoints/move_paired', { body: { ...moved, roomId: places.other.room } })
  expect(await jobs()).toHaveLength(1)
})

test('a call that limits nothing is refused unless it says all', async () => {
  expect(await refused('restart_devices', {})).toMatch(/Say which devices/)
  expect(await use('restart_devices', { all: true })).toMatchObject({ wouldHappen: { devices: 3 } })
  expect(await refused('restart_devices', { kind: 'PROJECTOR' })).toMatch(/No devices match/)
})

test('a key of one region sees that region only, with every tool [contract 11.access]', async () => {
  const { mine, other, nowhere } = places
  const restricted = await connect(await places.org.newKey({ scopes: ['read', 'write'], regionIds: [mine.region] }))
  const [hiddenIncident] = (await places.org.call('GET', `/incidents?roomId=${other.room}`)).body.incidents
  /** The arguments of each tool that name something, for a place. */
  const argsOf: Readonly<Record<string, (site: typeof mine) => object>> = {
    get_room: ({ room }) => ({ roomId: room }),
    explain_room: ({ room }) => ({ roomId: room }),
    room_history: ({ room }) => ({ roomId: room }),
    get_device: ({ endpoint }) => ({ endpointId: endpoint }),
    get_incident: () => ({ incidentId: hiddenIncident.id }),
    get_job: () => ({ jobId: '1' }),
    add_room_note: ({ room }) => ({ roomId: room, note: 'Hello.' }),
    acknowledge_incident: () => ({ incidentId: hiddenIncident.id }),
    comment_incident: () => ({ incidentId: hiddenIncident.id, text: 'Hello.' }),
    snooze_incident: () => ({ incidentId: hiddenIncident.id, until: 'cleared' }),
    restart_devices: ({ endpoint }) => ({ endpointIds: [endpoint] }),
    switch_power: ({ endpoint }) => ({ endpointIds: [endpoint], on: false }),
    show_message: ({ endpoint }) => ({ endpointIds: [endpoint], message: 'Hello.' }),
    cancel_job: () => ({ jobId: '99' }),
    resolve_incident: () => ({ incidentId: hiddenIncident.id, note: 'Hello.' }),
    silence_room: ({ room }) => ({ roomId: room, hours: 1, reason: 'Hello.' }),
  }
  for (const { name } of tools) {
    const args = argsOf[name]
    if (args && name !== 'get_job') {
      for (const site of [other, { ...nowhere, region: 0 }])
        expect(await refused(name, args(site), restricted), name).toMatch(/not found|No devices match|404|400/i)
      continue
    }
    const { text } = await restricted.call(name, args?.(mine) ?? {})
    expect(text, name).not.toMatch(/OTHER|NOWHERE/)
  }
  expect(await use('find_rooms', {}, restricted)).toMatchObject({ total: 1 })
  expect(await use('restart_devices', { all: true }, restricted)).toMatchObject({ wouldHappen: { devices: 1 } })
})

describe('/mcp', () => {
  const post = (body: unknown, headers: Record<string, string> = {}, token: string | false = key) =>
    harness.call('POST', '/mcp', {
      body,
      key: token,
      headers: { accept: 'application/json, text/event-stream', ...headers },
    })
  const initialize = {
    ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }

  test('refuses requests without a key, of other origins, in lists, and with long bodies', async () => {
    expect((await post(initialize, {}, false)).status).toBe(401)
    expect((await post(initialize, {}, 'rk_wrong')).status).toBe(401)
    expect((await post(initialize, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await post(initialize, { origin: 'null' })).status).toBe(403)
    expect((await post([initialize])).status).toBe(400)
    expect((await post({ ...initialize, padding: 'x'.repeat(70_000) })).status).toBe(413)
    for (const method of ['GET', 'DELETE']) expect((await harness.call(method, '/mcp', { key })).status).toBe(405)
    const { status, headers } = await post(initialize, { origin: new URL(harness.publicUrl).origin })
    expect([status, headers.get('mcp-session-id')]).toEqual([200, null])
  })

  test('does not accept the cookie of the console', async () => {
    const link = await harness.call('POST', '/mcp', {
      body: initialize,
      key: false,
      headers: { cookie: 'rk_session=rks_something', 'sec-fetch-site': 'same-origin' },
    })
    expect(link.status).toBe(401)
  })

  test.runIf(hasOneNode)('the rate limit of the key counts the requests of tools', async () => {
    const slow = await connect(await places.org.newKey({ scopes: ['read'], rateLimit: 1 }))
    const answers = []
    for (let i = 0; i < 10; i++)
      answers.push(await slow.call('overview').catch((error: Error) => ({ isError: true, text: error.message })))
    expect(answers.some(({ isError, text }) => isError && /Too many requests|429/.test(text))).toBe(true)
  })

  test('no key and no confirmation is in the log', async () => {
    const { confirmation } = await use('restart_devices', restartMine())
    const log = JSON.stringify(harness.logged)
    expect(log).not.toContain(key)
    expect(log).not.toContain(confirmation)
    expect(log).toContain('roomNotesCreate')
  })
})

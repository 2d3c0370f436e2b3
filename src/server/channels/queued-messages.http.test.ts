// Tests which changes channels are told about: audit entries, new and removed endpoints, deleted places. [contract 10.channel]
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { enrolTestDevice, newDevice } from '../../../test/support/devices/test-device.ts'
import { type Harness, hasOneNode, startHarness, type TestOrg } from '../../../test/support/harness.ts'
import { channelEvents } from '../../contract/channels/messages.ts'
import { Handle, OrgReader, TelemetryTx, Tx } from '../db/handles.ts'
import { SystemTx } from '../db/system.ts'
import { change } from '../journal/audit/change.ts'
import { areMessagesWanted } from '../journal/outbox/outbox.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

// Disabled, so that nothing is sent: the messages wait.
const webhook = { name: 'Operations', kind: 'webhook', url: 'https://hooks.example.org/T02', enabled: false }
const create = async (org: TestOrg, body: object) =>
  Number((await org.call('POST', '/channels', { body: { ...webhook, ...body } })).body.id)

/** The messages that wait, oldest first. */
const messages = async ({ org }: TestOrg, channel = 1) =>
  (
    await harness.services.db.system.kysely
      .selectFrom('deliveries as d')
      .innerJoin('messages as m', 'm.number', 'd.message')
      .select(['m.type', 'm.order_key', 'm.data'])
      .where('d.org', '=', org.key)
      .where('d.channel_id', '=', channel)
      .orderBy('m.number')
      .execute()
  ).map(({ type, order_key, data }) => ({ type, order_key, ...JSON.parse(data) }))

/** Counts the statements of audited transactions of an organisation while the work runs. */
async function countStatements({ org }: TestOrg, work: () => Promise<unknown>): Promise<number> {
  const run = vi.spyOn(Handle.prototype, 'run')
  try {
    await work()
    return run.mock.contexts.filter((on) => on instanceof Tx && on.org === org.key).length
  } finally {
    run.mockRestore()
  }
}

describe('audit.entry', () => {
  test('every audited change is told as the audit log shows it, in its own commit', async () => {
    const org = await harness.newOrg()
    await create(org, { events: ['audit.entry'] })
    await org.call('POST', '/regions', { body: { name: 'North' } })
    await org.call('DELETE', '/regions/99')
    await org.call('PUT', '/regions/1', { body: { name: 'Far north' } })
    const told = await messages(org)
    const entries = (await org.audit()).slice(0, 3).reverse()
    expect(entries.map(({ type }) => type)).toEqual(['CHANNEL_CREATED', 'REGION_CREATED', 'REGION_UPDATED'])
    expect(told.map(({ entry }) => entry)).toEqual(entries)
    expect(told.map(({ order_key }) => order_key)).toEqual(entries.map(({ id }) => `entry ${id}`))
  })

  test('costs one statement whatever the number of channels, and none if no channel wants it', async () => {
    const org = await harness.newOrg()
    const cost = () => countStatements(org, () => org.call('POST', '/regions', { body: { name: 'North' } }))
    const alone = await cost()
    expect(alone).toBeGreaterThan(3)
    await create(org, { events: ['incident.opened'] })
    expect(await cost()).toBe(alone)
    const first = await create(org, { events: ['audit.entry'] })
    expect(await cost()).toBe(alone + 1)
    for (let i = 0; i < 3; i++) await create(org, { events: ['audit.entry'] })
    expect(await cost()).toBe(alone + 1)
    expect((await messages(org, first)).length).toBe(1 + 1 + 3 + 1)
  })

  test('a channel that is limited to places is told about changes that name them', async () => {
    const org = await harness.newOrg()
    for (const name of ['North', 'South']) await org.call('POST', '/regions', { body: { name } })
    await org.call('POST', '/locations', { body: { name: 'Oslo', regionId: 1 } })
    const north = await create(org, { events: ['audit.entry'], regionIds: [1] })
    const oslo = await create(org, { events: ['audit.entry'], locationIds: [1] })
    await org.call('POST', '/rooms', { body: { name: 'Fjord', locationId: 1 } })
    await org.call('PUT', '/regions/1', { body: { name: 'Far north' } })
    await org.call('PUT', '/regions/2', { body: { name: 'Far south' } })
    await org.call('POST', '/profiles', { body: { name: 'Quiet', config: {} } })
    const types = async (channel: number) => (await messages(org, channel)).map(({ entry }) => entry.type)
    expect(await types(north)).toEqual(['ROOM_CREATED', 'REGION_UPDATED'])
    expect(await types(oslo)).toEqual(['ROOM_CREATED'])
  })

  test('an entry with long details is shortened, and the entry in the log is whole', async () => {
    const org = await harness.newOrg()
    await create(org, { events: ['audit.entry'] })
    const hosts = Array.from({ length: 1000 }, (_, i) => `host-${i}.example.org`)
    const target = { type: 'identity', id: org.id, name: 'Provider' }
    await change(org.ctx, 'identityUpdate', async () => ({ result: undefined, target, after: { hosts } }))
    expect((await org.audit())[0].details.after.hosts).toEqual(hosts)
    const told = (await messages(org)).at(-1)
    expect(told).toMatchObject({ shortened: true, entry: { type: 'IDENTITY_UPDATED', target } })
    expect(told.entry.details.after.hosts).toEqual(hosts.slice(0, 500))
  })
})

describe('endpoints', () => {
  test('endpoint.enrolled and endpoint.removed say which endpoint it is, and where', async () => {
    const org = await harness.newOrg()
    await org.call('POST', '/regions', { body: { name: 'North' } })
    await org.call('POST', '/locations', { body: { name: 'Oslo', regionId: 1 } })
    await org.call('POST', '/rooms', { body: { name: 'Fjord', locationId: 1 } })
    await create(org, { events: ['endpoint.enrolled', 'endpoint.removed'], regionIds: [1] })
    await create(org, { events: ['endpoint.enrolled'], regionIds: [] })
    const { answer, serial } = await enrolTestDevice(harness, org, { roomId: 1 })
    await org.call('DELETE', `/endpoints/${answer.endpointId}`)
    const told = await messages(org)
    const place = { roomId: 1, locationId: 1, regionId: 1 }
    const named = { serial, model: expect.any(String), name: `Bar ${serial.slice(-6)}` }
    const endpoint = { id: answer.endpointId, ...named, ...place }
    expect(told).toEqual([
      {
        type: 'endpoint.enrolled',
        order_key: `endpoint ${answer.endpointId}`,
        endpoint: { ...endpoint, at: expect.any(String) },
      },
      {
        type: 'endpoint.removed',
        order_key: `endpoint ${answer.endpointId}`,
        endpoint: { ...endpoint, at: expect.any(String) },
      },
    ])
    expect(await messages(org, 2)).toHaveLength(1)
  })
})

describe('places of channels', () => {
  test('a deleted region or location is taken from the channels that name it; the last one stays', async () => {
    const org = await harness.newOrg()
    for (const name of ['North', 'South']) await org.call('POST', '/regions', { body: { name } })
    for (const name of ['Oslo', 'Rome']) await org.call('POST', '/locations', { body: { name } })
    await create(org, { regionIds: [1, 2], locationIds: [2, 1, 2] })
    await create(org, { regionIds: [1] })
    await org.call('DELETE', '/regions/1')
    expect((await org.audit())[0]).toMatchObject({
      type: 'REGION_DELETED',
      details: { affected: [{ type: 'channel', id: '1', name: 'Operations' }] },
    })
    await org.call('DELETE', '/locations/2')
    expect((await org.audit())[0]).toMatchObject({ details: { affected: [{ type: 'channel', id: '1' }] } })
    const { channels } = (await org.call('GET', '/channels')).body
    expect(channels).toMatchObject([
      { regionIds: [2], locationIds: [1] },
      { regionIds: [1], locationIds: [] },
    ])
    expect((await org.call('PUT', '/channels/2', { body: { regionIds: [1], name: 'Late' } })).status).toBe(200)
    expect((await org.call('PUT', '/channels/1', { body: { regionIds: [1] } })).status).toBe(400)
  })

  test('entries about channels name no place, so callers who are limited to regions do not see them', async () => {
    const org = await harness.newOrg()
    await org.call('POST', '/regions', { body: { name: 'North' } })
    const id = await create(org, { regionIds: [1] })
    await org.call('PUT', `/channels/${id}`, { body: { minSeverity: 'INFO' } })
    const rows = await harness.services.db.system.kysely
      .selectFrom('audit_log')
      .select(['type', 'regions'])
      .where('org', '=', org.org.key)
      .where('target_type', '=', 'channel')
      .execute()
    expect(rows).toHaveLength(2)
    for (const { regions } of rows) expect(regions).toBe('{"all":[],"target":[]}')
  })
})

// This counts the statements of one node.
test.runIf(hasOneNode)(
  'unaudited writes know what channels want from a look at the database within the last second',
  async () => {
    const org = await harness.newOrg()
    const onOrg = harness.services.db.forOrg(org.org.key)
    const isWanted = () => onOrg.telemetry((tx) => areMessagesWanted(tx, ['endpoint.connected']))
    expect(await isWanted()).toBe(false)
    const run = vi.spyOn(Handle.prototype, 'run')
    const statements = () => run.mock.contexts.filter((on) => on instanceof OrgReader && on.org === org.org.key).length
    try {
      for (let i = 0; i < 5; i++) expect(await isWanted()).toBe(false)
      // The second may end in between.
      expect(statements()).toBeLessThanOrEqual(1)
    } finally {
      run.mockRestore()
    }
    await create(org, { events: ['endpoint.connected'] })
    await expect.poll(isWanted).toBe(true)
  },
)

test('a sample costs no statement for messages, whatever channels want', async () => {
  const org = await harness.newOrg()
  await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
  await create(org, { events: channelEvents.filter((event) => event !== 'report.month'), minSeverity: 'INFO' })
  const device = await newDevice(harness, org, { roomId: 1, model: 'NF19B1' })
  const run = vi.spyOn(Handle.prototype, 'run')
  try {
    const start = Math.floor(harness.clock.now() / 1000) - 600
    for (let i = 0; i < 20; i++) await device.publish('sample', { samples: [{ timestamp: start + i, co2: 400 + i }] })
    const isWriting = (on: unknown) => on instanceof SystemTx || on instanceof TelemetryTx || on instanceof Tx
    const written = run.mock.calls.filter((_, i) => isWriting(run.mock.contexts[i])).map(([{ sql }]) => sql)
    expect(written.filter((text) => text.includes('samples')).length).toBeGreaterThanOrEqual(20)
    expect(written.filter((text) => /messages|deliveries|channels|audit_heads/.test(text))).toEqual([])
  } finally {
    run.mockRestore()
    await device.close()
  }
})

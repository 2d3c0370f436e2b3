// Tests the outbox: which messages are written for which channels, in the commit of their cause. [contract 10.channel] [contract 10.delivery]
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { change } from '../audit/change.ts'
import { areMessagesWanted, endpointDraft, type MessageDraft, queueMessages } from './outbox.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const url = 'https://hooks.example.org/T02'
const create = async (org: TestOrg, body: object = {}) =>
  Number((await org.call('POST', '/channels', { body: { name: 'C', kind: 'webhook', url, ...body } })).body.id)
const at = 1_700_000_000_000
const opened: MessageDraft = {
  type: 'incident.opened',
  orderKey: 'incident 12',
  incidentId: 12,
  severity: 'WARNING',
  at,
  regionIds: [1],
  locationIds: [2],
  data: { incident: { id: '12' } },
}
const orgDatabase = ({ org }: TestOrg) => harness.services.db.forOrg(org.key)
const queue = (org: TestOrg, ...drafts: MessageDraft[]) => orgDatabase(org).telemetry((tx) => queueMessages(tx, drafts))
/** Every delivery with its message, oldest first. */
const deliveries = ({ org }: TestOrg) =>
  harness.services.db.system.kysely
    .selectFrom('deliveries as d')
    .innerJoin('messages as m', 'm.number', 'd.message')
    .selectAll()
    .where('d.org', '=', org.key)
    .orderBy('m.number')
    .orderBy('d.channel_id')
    .execute()
/** A channel that was tried for long enough has an incident of its own, which the other channels are told about. */
const channelsTold = async (org: TestOrg) =>
  (await deliveries(org)).filter(({ order_key }) => order_key === opened.orderKey).map(({ channel_id }) => channel_id)

describe('queueMessages [contract 10.channel]', () => {
  test('writes one message and a delivery for each channel; the first message of an incident waits 60 s', async () => {
    const org = await harness.newOrg()
    const [first, second] = [await create(org), await create(org)]
    await queue(org, opened, { ...opened, type: 'incident.resolved' })
    const rows = await deliveries(org)
    expect(rows).toMatchObject([
      { channel_id: first, type: 'incident.opened', state: 'WAITING', next_at: at + 60_000, incident_id: 12 },
      { channel_id: second, type: 'incident.opened', created_at: at, order_key: 'incident 12', sequence: null },
      { channel_id: first, type: 'incident.resolved', next_at: at, attempts: 0 },
      { channel_id: second, data: '{"incident":{"id":"12"}}' },
    ])
    expect(new Set(rows.map(({ id }) => id)).size).toBe(2)
    for (const { id } of rows) expect(id).toMatch(/^msg_\w{22}$/)
    expect((await org.call('GET', '/channels/1')).body.waiting).toBe(2)
  })

  test('a channel is told about its types, from its severity on, in its regions and locations only', async () => {
    const org = await harness.newOrg()
    for (const name of ['North', 'South']) await org.call('POST', '/regions', { body: { name } })
    for (const name of ['Oslo', 'Rome']) await org.call('POST', '/locations', { body: { name } })
    const all = await create(org, { minSeverity: 'INFO' })
    const critical = await create(org, { minSeverity: 'CRITICAL' })
    const north = await create(org, { regionIds: [1] })
    const south = await create(org, { regionIds: [2] })
    const oslo = await create(org, { locationIds: [1] })
    const northAndRome = await create(org, { regionIds: [1], locationIds: [2] })
    await create(org, { events: ['endpoint.enrolled'] })
    await create(org, { events: [] })
    const told = async (draft: Partial<MessageDraft>) => {
      const before = (await channelsTold(org)).length
      await queue(org, { ...opened, ...draft })
      return (await channelsTold(org)).slice(before)
    }
    expect(await told({})).toEqual([all, north, northAndRome])
    expect(await told({ severity: 'INFO' })).toEqual([all])
    expect(await told({ severity: 'CRITICAL' })).toEqual([all, critical, north, northAndRome])
    expect(await told({ regionIds: [2], locationIds: [1] })).toEqual([all, south, oslo])
    expect(await told({ regionIds: [1, 2], locationIds: [1, 2] })).toEqual([all, north, south, oslo, northAndRome])
    expect(await told({ regionIds: [null], locationIds: [null] }), 'in no place').toEqual([all])
    expect(await told({ regionIds: [], locationIds: [] }), 'the whole organisation').toHaveLength(5)
  })

  test('a channel with rules is told about incidents of these rules only, and about everything else as before', async () => {
    const org = await harness.newOrg()
    const events = ['incident.opened', 'incident.resolved', 'endpoint.removed']
    const all = await create(org, { events })
    const network = await create(org, { events, rules: ['device.offline', 'device.flapping'] })
    const air = await create(org, { events, rules: ['air.beyond'] })
    const told = async (draft: Partial<MessageDraft>) => {
      const before = (await channelsTold(org)).length
      await queue(org, { ...opened, ...draft })
      return (await channelsTold(org)).slice(before)
    }
    expect(await told({ rule: 'device.offline' })).toEqual([all, network])
    expect(await told({ rule: 'device.flapping', type: 'incident.resolved' })).toEqual([all, network])
    expect(await told({ rule: 'air.beyond' })).toEqual([all, air])
    expect(await told({ rule: 'storage.low' })).toEqual([all])
    expect(await told({ type: 'endpoint.removed' }), 'about no incident').toEqual([all, network, air])
    await org.call('PUT', `/channels/${network}`, { body: { rules: [] } })
    expect(await told({ rule: 'storage.low' }), 'without rules again').toEqual([all, network])
  })

  test('a disabled channel gets its messages too, and a deleted one gets none and loses those that wait', async () => {
    const org = await harness.newOrg()
    const [kept, deleted] = [await create(org, { enabled: false }), await create(org)]
    await queue(org, opened)
    expect(await channelsTold(org)).toEqual([kept, deleted])
    await org.call('DELETE', `/channels/${deleted}`)
    await queue(org, { ...opened, type: 'incident.resolved' })
    expect(await channelsTold(org)).toEqual([kept, kept])
  })

  test('a channel that another process deleted a moment ago refuses no commit', async () => {
    const org = await harness.newOrg()
    const [kept, deleted] = [await create(org), await create(org)]
    await queue(org, opened)
    await harness.services.db.systemTransaction(async ({ kysely }) => {
      await kysely.deleteFrom('channels').where('org', '=', org.org.key).where('id', '=', deleted).execute()
    })
    await queue(org, opened)
    expect(await channelsTold(org)).toEqual([kept, kept])
  })

  test('a change that is rolled back leaves no message', async () => {
    const org = await harness.newOrg()
    await create(org)
    const attempt = change(org.ctx, 'regionsCreate', async (tx) => {
      await queueMessages(tx, [opened])
      throw new Error('undone')
    })
    await expect(attempt).rejects.toThrow('undone')
    expect(await deliveries(org)).toEqual([])
  })

  test('messages of other organisations stay apart', async () => {
    const [org, other] = [await harness.newOrg(), await harness.newOrg()]
    await create(org)
    await queue(other, opened)
    expect([await deliveries(org), await deliveries(other)]).toEqual([[], []])
    expect(await orgDatabase(other).telemetry((tx) => areMessagesWanted(tx, ['incident.opened']))).toBe(false)
    expect(await orgDatabase(org).telemetry((tx) => areMessagesWanted(tx, ['incident.opened']))).toBe(true)
    expect(await orgDatabase(org).telemetry((tx) => areMessagesWanted(tx, ['audit.entry']))).toBe(false)
  })

  test('a message about an endpoint names its place, and leaves out what it has not', async () => {
    const org = await harness.newOrg()
    await create(org, { events: ['endpoint.disconnected'] })
    const endpoint = { id: 'e1', name: null, serial: 'S1', model: 'Bar', roomId: 4, locationId: null, regionId: null }
    await queue(org, endpointDraft('endpoint.disconnected', endpoint, at, 'LOST'))
    const [row] = await deliveries(org)
    expect(row?.order_key).toBe('endpoint e1')
    expect(JSON.parse(row?.data ?? '')).toEqual({
      endpoint: {
        ...{ id: 'e1', name: 'Bar S1', serial: 'S1', model: 'Bar', roomId: 4 },
        ...{ at: '2023-11-14T22:13:20.000Z', why: 'LOST' },
      },
    })
  })
})

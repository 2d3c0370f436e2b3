// Tests the commands of the API: reboot, messages, lists and cancelling. [contract 6.operations]

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { auditAffected, auditTarget } from '../../../../test/support/devices/audited-endpoint.ts'
import { newDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

interface Operation {
  id: string
  type: string
  endpointId: string
  state: string
  createdAt: string
  deadline: string
}

async function building(): Promise<TestOrg> {
  const org = await harness.newOrg()
  for (const name of ['Fjord', 'Fuji', 'Attic']) await org.call('POST', '/rooms', { body: { name } })
  return org
}
const reboot = (org: TestOrg, id: string) => org.call('POST', `/endpoints/${id}/reboot`)
const toEndpoints = (org: TestOrg, endpointIds: unknown, message = 'Hello') =>
  org.call('POST', '/endpoints/send_message', { body: { message, endpointIds } })
const toRooms = (org: TestOrg, roomIds: unknown, message = 'Hello') =>
  org.call('POST', '/rooms/send_message', { body: { message, roomIds } })
const cancel = (org: TestOrg, id: string) => org.call('DELETE', `/operations/${id}`)
const stateOf = async (org: TestOrg, id: string) => (await org.call('GET', `/operations/${id}`)).body.state
const rowsOf = ({ org }: TestOrg) =>
  harness.services.db.system.kysely
    .selectFrom('operations')
    .selectAll()
    .where('org', '=', org.key)
    .orderBy('id')
    .execute()
const snapshot = async (org: TestOrg) => [await rowsOf(org), await org.audit()]
const minutes = ({ createdAt, deadline }: Operation) => (Date.parse(deadline) - Date.parse(createdAt)) / 60_000

test('endpointsReboot asks the endpoint and everything paired with it; who is offline is SKIPPED [contract 4.endpointsReboot]', async () => {
  const org = await building()
  const bar = await newDevice(harness, org, { roomId: 1 })
  const pad = await newDevice(harness, org, { roomId: 2, pairingSerial: bar.serial })
  await bar.publish('status', { pairedSerials: [pad.serial] })
  const asleep = await newDevice(harness, org, { roomId: 1, pairingSerial: bar.serial, offline: true })
  const loner = await newDevice(harness, org, { roomId: 1 })
  const log = await org.audit()

  const { status, body } = await reboot(org, pad.id)
  expect(status).toBe(200)
  const operations: Operation[] = body.operations
  expect(operations).toHaveLength(3)
  const [first, ...others] = operations
  expect(first).toMatchObject({ endpointId: pad.id, type: 'REBOOT', state: 'QUEUED' })
  const states = Object.fromEntries(others.map((o) => [o.endpointId, o.state]))
  expect(states).toEqual({ [bar.id]: 'QUEUED', [asleep.id]: 'SKIPPED' })
  expect(operations.map(minutes)).toEqual([5, 5, 5])
  for (const device of [pad, bar]) {
    const { id, deadline } = operations.find((o) => o.endpointId === device.id) as Operation
    expect(await device.next('operation')).toEqual({ id, type: 'REBOOT', deadline })
  }
  expect((await rowsOf(org)).map((row) => row.endpoint_id)).not.toContain(loner.id)
  const [entry, ...earlier] = await org.audit()
  expect(earlier).toEqual(log)
  const target = auditTarget(pad)
  expect(entry).toMatchObject({ category: 'DEVICE', type: 'DEVICE_REBOOT_REQUESTED', target })
  expect(new Set(entry.details.affected.map((a: { id: string }) => a.id))).toEqual(new Set([bar.id, asleep.id]))
  await asleep.connect()
  const after = (await toEndpoints(org, [asleep.id])).body.operations[0]
  expect((await asleep.next('operation')).id, 'a skipped one is never sent').toBe(after.id)
  for (const device of [bar, pad, asleep, loner]) await device.close()
})

test('endpointsReboot of an endpoint that is not connected is refused, and nothing reboots', async () => {
  const org = await building()
  const bar = await newDevice(harness, org, { roomId: 1, offline: true })
  const pad = await newDevice(harness, org, { roomId: 1, pairingSerial: bar.serial })
  const before = await snapshot(org)
  const { status, body } = await reboot(org, bar.id)
  expect([status, body.code]).toEqual([400, 'FAILED_PRECONDITION'])
  expect(body.message).toMatch(/^Operation preconditions not met: .* is not connected/)
  expect((await reboot(org, randomUUID())).status).toBe(404)
  expect(await snapshot(org)).toEqual(before)
  expect(pad.received.filter((m) => m.kind === 'operation')).toEqual([])
  await pad.close()
})

test('a group of a thousand reboots at once', async () => {
  const org = await building()
  const paired = Array.from({ length: 999 }, (_, n) => ({ pairing_serial: 'LEADER', room_id: 1, connected: n % 2 }))
  const followers = await putEndpoints(harness, org, paired)
  await putEndpoints(harness, org, [{ serial: 'LEADER', room_id: 1, connected: 1 }])
  const addressed = followers[501]?.id as string
  const { operations } = (await reboot(org, addressed)).body as { operations: Operation[] }
  expect(operations[0]?.endpointId).toBe(addressed)
  expect(new Set(operations.map((o) => o.endpointId)).size).toBe(1000)
  expect(new Set(operations.map((o) => o.id)).size).toBe(1000)
  expect(operations.filter((o) => o.state === 'SKIPPED')).toHaveLength(500)
  const rows = await rowsOf(org)
  expect(rows.map((row) => [row.id, row.endpoint_id, row.state]).sort()).toEqual(
    operations.map((o) => [o.id, o.endpointId, o.state]).sort(),
  )
})

test('endpointsSendMessage makes one operation for each endpoint, in their order, offline or not [contract 6.messages]', async () => {
  const org = await building()
  const [here, away] = [
    await newDevice(harness, org, { roomId: 1 }),
    await newDevice(harness, org, { roomId: 1, offline: true }),
  ]
  const message = 'Line one\nLine "two" \u2603'
  const { operations } = (await toEndpoints(org, [away.id, here.id, away.id], message)).body
  expect(operations).toMatchObject([
    { endpointId: away.id, type: 'MESSAGE', state: 'QUEUED' },
    { endpointId: here.id, type: 'MESSAGE', state: 'QUEUED' },
  ])
  expect(operations.map(minutes)).toEqual([5, 5])
  const { id, deadline } = operations[1]
  expect(await here.next('operation')).toEqual({ id, type: 'MESSAGE', deadline, message })
  expect(await stateOf(org, operations[0].id)).toBe('QUEUED')
  const [entry] = await org.audit()
  const target = auditTarget(away)
  expect(entry).toMatchObject({ category: 'DEVICE', type: 'DEVICE_MESSAGE_SENT', target })
  expect(entry.details).toEqual({
    after: { message },
    affected: [auditAffected(here)],
  })
  await here.close()
})

test('endpointsSendMessage to unknown or foreign endpoints is a 400 that names each, and no device gets it [contract 2.2]', async () => {
  const [org, elsewhere] = [await building(), await building()]
  const [mine] = await putEndpoints(harness, org, [{ room_id: 1 }])
  const [foreign] = await putEndpoints(harness, elsewhere, [{ room_id: 1 }])
  const before = await snapshot(org)
  const wrong = [randomUUID(), foreign?.id as string, 'nonsense', 'a\u0000b']
  const { status, body } = await toEndpoints(org, [mine?.id, ...wrong, ...wrong])
  expect([status, body.code]).toEqual([400, 'INVALID_ARGUMENT'])
  expect(body.violations.map((v: { field: string }) => v.field)).toEqual(wrong.map(() => 'endpointIds'))
  for (const id of wrong) expect(body.message).toContain(id)
  for (const [ids, text] of [
    [[], 'x'],
    [[mine?.id], ''],
    [[mine?.id], 'x'.repeat(1025)],
    [[mine?.id], 'a\u0000'],
    ['x', 'x'],
  ]) {
    expect((await toEndpoints(org, ids, text as string)).body.code).toBe('INVALID_ARGUMENT')
  }
  expect(await snapshot(org)).toEqual(before)
  expect(await rowsOf(elsewhere)).toEqual([])
})

test('roomsSendMessage reaches every endpoint of the rooms once; an empty room has none [contract 6.messages]', async () => {
  const org = await building()
  const rows = await putEndpoints(harness, org, [{ room_id: 1 }, { room_id: 1, connected: 1 }, { room_id: 2 }, {}])
  const { operations } = (await toRooms(org, [2, 1, 2])).body as { operations: Operation[] }
  expect(operations.map((o) => o.endpointId).sort()).toEqual(
    rows
      .slice(0, 3)
      .map((row) => row.id)
      .sort(),
  )
  expect(operations.every((o) => o.state === 'QUEUED' && o.type === 'MESSAGE' && minutes(o) === 5)).toBe(true)
  const [entry] = await org.audit()
  expect(entry).toMatchObject({ type: 'DEVICE_MESSAGE_SENT', target: { type: 'room', id: '2', name: 'Fuji' } })
  expect(entry.details.after).toEqual({ message: 'Hello' })
  expect(entry.details.affected).toHaveLength(4)
  expect((await toRooms(org, [3])).body).toEqual({ operations: [] })
  const before = await snapshot(org)
  const { body } = await toRooms(org, [1, 77, 78, 0])
  expect([body.code, body.violations.length]).toEqual(['INVALID_ARGUMENT', 3])
  for (const id of [77, 78, 0]) expect(body.message).toMatch(new RegExp(`\\b${id}\\b`))
  expect(await snapshot(org)).toEqual(before)
})

test('endpointsOperationsList shows the newest 200, newest first [contract 6.operations]', async () => {
  const org = await building()
  const [one, other] = (await putEndpoints(harness, org, [{}, {}])).map((row) => row.id) as [string, string]
  await toEndpoints(org, [other])
  const rows = Array.from({ length: 205 }, (_, n) => ({
    ...{ org: org.org.key, id: randomUUID(), endpoint_id: one, type: 'MESSAGE', state: 'FAILED', payload: '{}' },
    ...{ created_at: n, updated_at: n, deadline: n + 1, sent_at: null, error: 'no screen' },
  }))
  await harness.services.db.systemTransaction((t) => t.kysely.insertInto('operations').values(rows).execute())
  const { operations } = (await org.call('GET', `/endpoints/${one}/operations`)).body
  const newest = rows.toReversed().slice(0, 200)
  expect(operations.map((o: Operation) => o.id)).toEqual(newest.map((row) => row.id))
  expect(operations[0]).toEqual({
    ...{ id: newest[0]?.id, type: 'MESSAGE', endpointId: one, state: 'FAILED', error: 'no screen' },
    ...{ createdAt: '1970-01-01T00:00:00.204Z', updatedAt: '1970-01-01T00:00:00.204Z' },
    deadline: '1970-01-01T00:00:00.205Z',
  })
})

test('operationsList shows the operations that are not finished, newest first [contract 6.operations]', async () => {
  const [org, elsewhere] = [await building(), await building()]
  await toEndpoints(elsewhere, [(await putEndpoints(harness, elsewhere, [{}]))[0]?.id ?? ''])
  const [one, other] = (await putEndpoints(harness, org, [{}, {}])).map((row) => row.id) as [string, string]
  expect((await org.call('GET', '/operations')).body).toEqual({ operations: [] })
  const first = (await toEndpoints(org, [one])).body.operations[0]
  const cancelled = (await toEndpoints(org, [one])).body.operations[0]
  await cancel(org, cancelled.id)
  harness.clock.advance(1000)
  const last = (await toEndpoints(org, [other])).body.operations[0]
  expect((await org.call('GET', '/operations')).body).toEqual({ operations: [last, first] })
})

test('operationsCancel cancels an operation that was not SENT, and the device is never told [contract 6.operations]', async () => {
  const org = await building()
  const device = await newDevice(harness, org, { roomId: 1, offline: true })
  const [first, second] = [
    (await toEndpoints(org, [device.id])).body.operations[0],
    (await toEndpoints(org, [device.id], 'Still here')).body.operations[0],
  ]
  const log = await org.audit()
  expect((await cancel(org, first.id)).body).toEqual({})
  expect([await stateOf(org, first.id), await stateOf(org, second.id)]).toEqual(['CANCELLED', 'QUEUED'])
  const [entry, ...earlier] = await org.audit()
  expect(earlier).toEqual(log)
  const target = auditTarget(device)
  expect(entry).toMatchObject({ type: 'DEVICE_OPERATION_CANCELLED', target })
  expect(entry.details.before).toEqual({ operationId: first.id, type: 'MESSAGE', state: 'QUEUED' })

  await device.connect()
  expect((await device.next('operation')).message, 'only the other one').toBe('Still here')
  expect(await stateOf(org, second.id)).toBe('SENT')
  const before = await snapshot(org)
  for (const [id, state] of [
    [first.id, 'CANCELLED'],
    [second.id, 'SENT'],
  ]) {
    const { status, body } = await cancel(org, id)
    expect([status, body.code]).toEqual([400, 'FAILED_PRECONDITION'])
    expect(body.message).toContain(`operation ${id} is ${state}: `)
  }
  expect(await snapshot(org)).toEqual(before)
  await device.close()
})

test('an operation that is not here is a 404, whatever its id looks like [contract 1.5]', async () => {
  const [org, elsewhere] = [await building(), await building()]
  const [row] = await putEndpoints(harness, elsewhere, [{}])
  const foreign = (await toEndpoints(elsewhere, [row?.id])).body.operations[0].id
  for (const id of [foreign, randomUUID(), 'x', '1', '%00']) {
    for (const method of ['GET', 'DELETE']) expect((await org.call(method, `/operations/${id}`)).status).toBe(404)
  }
  expect(await stateOf(elsewhere, foreign)).toBe('QUEUED')
})

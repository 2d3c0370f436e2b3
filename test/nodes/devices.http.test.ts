// Devices at several nodes: one connection counts, commands reach it from every node, and lost messages only cost time.
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { devicePaths } from '../../src/contract/device/protocol.ts'
import type { Services } from '../../src/server/context/services.ts'
import { endpointsReboot } from '../../src/server/fleet/commands/rules.ts'
import { endpointsDelete } from '../../src/server/fleet/endpoints/rules.ts'
import { commandLineActor } from '../../src/server/journal/orgs/rules.ts'
import type { TestDevice } from '../support/devices/test-device.ts'
import { send, TestClock } from '../support/harness.ts'
import type { GroupNode } from '../support/nodes/node-group.ts'
import { mqttUrlOf, type TwoNodes, twoNodes } from '../support/nodes/two-nodes.ts'
import { until } from '../support/program.ts'

/** For the tests that leave both nodes as they were. */
let nodes: TwoNodes
const closeLater: (() => Promise<void>)[] = []
beforeAll(async () => {
  nodes = await twoNodes({}, {}, (close) => closeLater.push(close))
})
afterAll(async () => {
  for (const close of closeLater.toReversed()) await close()
})

const rowOf = (node: GroupNode, { id }: TestDevice) =>
  node.services.db.system.kysely
    .selectFrom('endpoints')
    .select(['node_id', 'connection', 'status'])
    .where('id', '=', id)
    .executeTakeFirst()

/** Services whose messages about devices are lost. */
const withoutMessages = (services: Services): Services => ({ ...services, devices: { wake() {}, cut() {} } })

const quietActor = ({ b, org }: TwoNodes) =>
  commandLineActor(withoutMessages(b.services), { type: 'SYSTEM', id: 'test', name: 'Test' }, org.id)

const read = async ({ call }: TwoNodes, node: GroupNode, { id }: TestDevice) =>
  (await call(node, 'GET', `/endpoints/${id}`)).body

const operationIds = ({ received }: TestDevice) =>
  received.filter(({ kind }) => kind === 'operation').map(({ body }) => body.id)

/** Ends the session of a node that carries its messages. */
async function cutMessages({ databaseUrl }: TwoNodes, node: GroupNode): Promise<void> {
  const admin = new pg.Client({ connectionString: databaseUrl })
  await admin.connect()
  const { rows } = await admin.query(
    `SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
     WHERE l.locktype = 'advisory' AND d.datname = current_database() AND l.objsubid = 2 AND l.objid = $1`,
    [node.services.node?.id],
  )
  await admin.end()
  expect(rows).toHaveLength(1)
}

test('a device that connects to two nodes in turn, 20 times, has one connection, and each command is sent once', async () => {
  const { a, b, call } = nodes
  // This is the first of the 20 connections: a node accepts ten of a device at once.
  const device = await nodes.device(a)
  const sent: string[] = []
  for (let i = 0; i < 19; i++) {
    const [node, other] = i % 2 === 0 ? [b, a] : [a, b]
    const before = device.client
    const isClosed = new Promise<void>((resolve) => void before.once('close', () => resolve()))
    await device.connect({ url: mqttUrlOf(node) })
    expect(await rowOf(a, device)).toMatchObject({ node_id: node.services.node?.id, connection: i + 2 })
    const body = { message: `Message ${i}`, endpointIds: [device.id] }
    sent.push((await call(other, 'POST', '/endpoints/send_message', { body })).body.operations[0].id)
    const { id } = await device.next('operation')
    await device.publish('operation', { id, state: 'SUCCEEDED' })
    await isClosed
  }
  expect(operationIds(device)).toEqual(sent)
  for (const id of sent) expect((await call(b, 'GET', `/operations/${id}`)).body.state).toBe('SUCCEEDED')
  expect(await rowOf(b, device)).toMatchObject({ node_id: b.services.node?.id, connection: 20 })
  for (const node of [a, b]) expect(await read(nodes, node, device)).toMatchObject({ connected: true })
  expect(device.client.connected).toBe(true)
  // Each node counts the connections that the other one took over. [contract 10.rule]
  const countReplaced = async () => {
    const attempts = b.services.db.system.kysely.selectFrom('credential_attempts').selectAll()
    const rows = await attempts.where('endpoint_id', '=', device.id).where('kind', '=', 'taken over').execute()
    return rows.reduce((sum, { count }) => sum + count, 0)
  }
  await until('the replaced connections are counted', async () => (await countReplaced()) === 19, { timeoutMs: 15_000 })
})

test('the old node of a device that has moved does not mark it as offline', async () => {
  const { a, b } = nodes
  const device = await nodes.device(a)
  const old = device.client
  let isBack = false
  a.services.bus.lost(() => {
    isBack = true
  })
  // The message about the replaced connection waits, because the session that carries it is cut.
  await cutMessages(nodes, a)
  await device.connect({ url: mqttUrlOf(b) })
  old.stream.destroy()
  await device.publish('status', { firmwareVersion: '7' })
  await until('the old node is back', () => isBack)
  expect(await rowOf(b, device)).toMatchObject({ node_id: b.services.node?.id, connection: 2 })
  expect(await read(nodes, b, device)).toMatchObject({ connected: true, firmwareVersion: '7' })
})

test('a serial that is connected to one node cannot enrol at another, until the connection has ended', async () => {
  const { a, b, call } = nodes
  const device = await nodes.device(a)
  const { dec } = (await call(b, 'GET', '/rooms/1')).body
  const body = { code: dec, serial: device.serial, model: device.model }
  const enrol = (node: GroupNode) => send(node.url, 'POST', devicePaths.enrol, { body })
  expect((await enrol(b)).status).toBe(409)
  expect((await enrol(a)).status).toBe(409)
  await device.publish('status', { firmwareVersion: '7' })
  await device.close()
  await until('it may enrol', async () => (await enrol(b)).status === 200)
  await expect(device.connect({ url: mqttUrlOf(a) })).rejects.toMatchObject({ code: 5 })
})

test('unenrolling at one node tells a device at another and ends its connection', async () => {
  const device = await nodes.device(nodes.a)
  await nodes.call(nodes.b, 'DELETE', `/endpoints/${device.id}`)
  expect(await device.next('operation')).toMatchObject({ type: 'UNENROL' })
  await device.ended()
})

test('a reboot that is asked of another node succeeds, if the clocks of the nodes are 3 s apart', async () => {
  const [ahead, behind] = [new TestClock(), new TestClock()]
  ahead.advance(1500)
  behind.advance(-1500)
  const nodes = await twoNodes({ a: ahead, b: behind })
  const { a, b, call } = nodes
  const device = await nodes.device(a)
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    const reboot = await call(to, 'POST', `/endpoints/${device.id}/reboot`)
    const { id } = reboot.body.operations[0]
    expect(await device.next('operation', 1000)).toMatchObject({ id, type: 'REBOOT' })
    await device.publish('operation', { id, state: 'SUCCEEDED' })
    expect((await call(from, 'GET', `/operations/${id}`)).body.state).toBe('ACKNOWLEDGED')
    device.drop()
    await device.connect({ url: mqttUrlOf(to) })
    await device.publish('operation', { id, state: 'SUCCEEDED' })
    expect((await call(from, 'GET', `/operations/${id}`)).body.state).toBe('SUCCEEDED')
  }
  expect(operationIds(device)).toHaveLength(2)
})

test('a command and a config whose messages were lost reach the device within 3 s', async () => {
  const device = await nodes.device(nodes.a)
  const ctx = await quietActor(nodes)
  const { operations } = await endpointsReboot(ctx, device.id)
  expect(await device.next('operation', 3000)).toMatchObject({ id: operations[0]?.id })
  await nodes.b.services.db.systemTransaction(async ({ kysely }) => {
    await kysely
      .insertInto('endpoint_configs')
      .values({
        org: nodes.org.key,
        endpoint_id: device.id,
        version: 1,
        state: 'PENDING',
        explicit: '{"nightMode":true}',
      })
      .execute()
  })
  expect(await device.next('config', 3000)).toMatchObject({ version: 1 })
  expect(device.received.filter(({ kind }) => kind === 'config')).toHaveLength(1)
})

test('an unenrolment whose message was lost: nothing that the device sends is stored, and its connection ends', async () => {
  const [speaking, silent] = [await nodes.device(nodes.a), await nodes.device(nodes.a)]
  const ctx = await quietActor(nodes)
  for (const { id } of [speaking, silent]) await endpointsDelete(ctx, id)
  const samples = [{ timestamp: Math.floor(Date.now() / 1000), co2: 500 }]
  let isAcknowledged = false
  speaking.publish('sample', { samples }).then(
    () => {
      isAcknowledged = true
    },
    () => {},
  )
  await speaking.ended()
  expect(isAcknowledged).toBe(false)
  const stored = nodes.b.services.db.system.kysely.selectFrom('samples').selectAll()
  expect(await stored.execute()).toEqual([])
  // The serial is enrolled again at the other node, which is no reason to keep the old connection.
  const { dec } = (await nodes.call(nodes.b, 'GET', '/rooms/1')).body
  const body = { code: dec, serial: silent.serial, model: silent.model }
  expect((await send(nodes.b.url, 'POST', devicePaths.enrol, { body })).status).toBe(200)
  // A device that says nothing is found when the node reconciles its connections.
  await cutMessages(nodes, nodes.a)
  await silent.ended(10_000)
})

test('enrolling a serial again ends the connection that its unenrolled endpoint still has at another node', async () => {
  const { a, b, call } = nodes
  const [device, other] = [await nodes.device(a), await nodes.device(a)]
  const ctx = await quietActor(nodes)
  await endpointsDelete(ctx, device.id)
  const ended = device.ended()
  const { dec } = (await call(b, 'GET', '/rooms/1')).body
  const body = { code: dec, serial: device.serial, model: device.model }
  const enrolled = await send(b.url, 'POST', devicePaths.enrol, { body })
  expect(enrolled.status).toBe(200)
  expect(enrolled.body.endpointId).not.toBe(device.id)
  await ended
  expect(operationIds(device), 'the device is enrolled, and is not told the opposite').toEqual([])
  expect(await read(nodes, b, other), 'other connections stay').toMatchObject({ connected: true })
  expect(other.client.connected).toBe(true)
})

test('a replaced connection whose message was lost: it ends when its node checks its connections', async () => {
  // The task runs every three seconds here, instead of every minute.
  const nodes = await twoNodes({}, { taskPauseShare: 0.05 })
  const { a, b } = nodes
  const device = await nodes.device(a)
  const old = device.client
  const isClosed = new Promise<void>((resolve) => void old.once('close', () => resolve()))
  const { bus } = b.services
  const send = bus.send.bind(bus)
  const lost: unknown[] = []
  const sending = vi.spyOn(bus, 'send').mockImplementation((kind, body) => {
    if (kind === 'takenOver') lost.push(body)
    else send(kind, body)
  })
  onTestFinished(() => void sending.mockRestore())
  await device.connect({ url: mqttUrlOf(b) })
  await isClosed
  expect(lost).toHaveLength(1)
  expect(await rowOf(b, device)).toMatchObject({ node_id: b.services.node?.id, connection: 2 })
  expect(await read(nodes, a, device)).toMatchObject({ connected: true })
  expect(device.client.connected).toBe(true)
})

test('devices of a node that was declared dead are disconnected in every answer, and the node lets them go', async () => {
  const nodes = await twoNodes()
  const { a, b } = nodes
  const [device, quiet] = [await nodes.device(a), await nodes.device(a)]
  const oldId = a.services.node?.id ?? 0
  expect(await read(nodes, b, device)).toMatchObject({ connected: true })
  await b.services.db.systemTransaction(({ kysely }) =>
    kysely.updateTable('nodes').set({ state: 'dead', ended_at: Date.now() }).where('id', '=', oldId).execute(),
  )
  b.services.bus.send('nodeEnded', { nodeId: oldId })
  await until('it is shown as offline', async () => !(await read(nodes, b, device)).connected)
  device.publish('status', { firmwareVersion: '7' }).catch(() => {})
  await device.ended(10_000)
  await until('the node has a new row', () => a.services.node?.id !== oldId)
  await quiet.ended(10_000)
  await until('the log says why', () =>
    a.logged.some(({ endpoint, reason }) => endpoint === quiet.id && reason === 'this node was declared dead'),
  )
  // The row names the ended node until a task has written the end of the connection; the late status is in neither.
  const { node_id: nodeId, status } = (await rowOf(b, device)) ?? {}
  expect([oldId, null]).toContain(nodeId)
  expect(status).toBe('{}')
  await device.connect({ url: mqttUrlOf(a) })
  expect(await rowOf(b, device)).toMatchObject({ node_id: a.services.node?.id, connection: 2 })
})

test('a device that moves to another node has one span for each connection, without a gap, at both nodes', async () => {
  const { a, b, call } = nodes
  const from = new Date(Date.now() - 1000).toISOString()
  const device = await nodes.device(a)
  await device.connect({ url: mqttUrlOf(b) })
  for (const node of [a, b]) {
    const { spans, outages } = (await call(node, 'GET', `/endpoints/${device.id}/connections?from=${from}`)).body
    expect(spans).toMatchObject([{ why: 'REPLACED' }, { from: spans[0].to }])
    expect(outages).toBe(0)
  }
})

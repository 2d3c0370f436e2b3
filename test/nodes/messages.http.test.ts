// Messages between nodes over a real PostgreSQL: order, length, interruptions.
import pg from 'pg'
import { expect, test } from 'vitest'
import { type GroupNode, type NodeGroup, nodeGroup, patientLimits } from '../support/nodes/node-group.ts'
import { until } from '../support/program.ts'

const startNode = (group: NodeGroup) => group.start({ limits: patientLimits })

/** Records the messages that a node hears, as text, with their senders. */
function record({ services: { bus, node } }: GroupNode): string[] {
  const heard: string[] = []
  bus.heard('wake', ({ endpointIds }, from) => {
    expect(from.isSelf).toBe(from.nodeId === node?.id)
    heard.push(`${from.nodeId}: ${endpointIds.join(' ')}`)
  })
  return heard
}

test('every node hears the messages of all nodes in the same order, its own included', async () => {
  const group = await nodeGroup()
  const nodes = [await startNode(group), await startNode(group), await startNode(group)]
  const heard = nodes.map(record)
  const messagesPerNode = 300
  for (let i = 0; i < messagesPerNode; i++) {
    for (const { services } of nodes) services.bus.send('wake', { endpointIds: [`${i}`] })
    if (i % 10 === 0) await new Promise(setImmediate)
  }
  await until('all are heard', () => heard.every((list) => list.length === messagesPerNode * nodes.length))
  expect(heard[1]).toEqual(heard[0])
  expect(heard[2]).toEqual(heard[0])
  for (const { services } of nodes) {
    const own = heard[0]?.filter((line) => line.startsWith(`${services.node?.id}: `))
    expect(own).toEqual(Array.from({ length: messagesPerNode }, (_, i) => `${services.node?.id}: ${i}`))
  }
})

test('a long message arrives whole, in notifications of at most 7,900 bytes', async () => {
  const group = await nodeGroup()
  const [one, other] = [await startNode(group), await startNode(group)]
  const witness = new pg.Client({ connectionString: group.databaseUrl })
  await witness.connect()
  await witness.query('LISTEN roomkeeper')
  const sizes: number[] = []
  witness.on('notification', ({ payload = '' }) => sizes.push(Buffer.byteLength(payload)))
  const heard = record(other)
  const endpointIds = Array.from({ length: 3000 }, (_, i) => `Raum ${i} “ähnlich” 会议室`)
  one.services.bus.send('wake', { endpointIds })
  await until('it is heard', () => heard.length === 1)
  expect(heard[0]).toBe(`${one.services.node?.id}: ${endpointIds.join(' ')}`)
  await until('the witness hears it', () => sizes.filter((size) => size > 7_000).length > 10)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(7_900)
  await witness.end()
})

test('a message of which a part is missing is lost, and the node is told so', async () => {
  const group = await nodeGroup()
  const node = await startNode(group)
  const heard = record(node)
  let lost = 0
  node.services.bus.lost(() => lost++)
  const sender = new pg.Client({ connectionString: group.databaseUrl })
  await sender.connect()
  const notify = (text: string) => sender.query("SELECT pg_notify('roomkeeper', $1)", [text])
  await notify('aa 99 1 1 1 [["wake",{"endpointIds":["first"]}]]')
  await notify('aa 99 2 1 3 [["wake",{"endpointIds":[')
  await notify('aa 99 2 3 3 ]}]]')
  await until('it is noticed', () => lost === 1)
  await notify('aa 99 3 1 1 [["wake",{"endpointIds":["second"]}]]')
  await notify('aa 99 3 1 1 [["wake",{"endpointIds":["second"]}]]')
  await notify('aa 99 5 1 1 [["wake",{"endpointIds":["third"]}]]')
  await notify('not ours')
  await until('the gap is noticed', () => lost === 2)
  expect(heard).toEqual(['99: first', '99: second', '99: third'])
  await sender.end()
})

test('a node that loses its session hears everything that others sent later, and is told once that it may have missed something', async () => {
  const group = await nodeGroup()
  const [one, other] = [await startNode(group), await startNode(group)]
  const heard = [record(one), record(other)]
  const lost = { one: 0, other: 0 }
  one.services.bus.lost(() => lost.one++)
  other.services.bus.lost(() => lost.other++)
  let interruptions = 0
  one.services.node?.onDisconnected(() => interruptions++)
  const admin = new pg.Client({ connectionString: group.databaseUrl })
  await admin.connect()
  const { rows } = await admin.query(
    `SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
     WHERE l.locktype = 'advisory' AND d.datname = current_database() AND l.objsubid = 2 AND l.objid = $1`,
    [one.services.node?.id],
  )
  expect(rows).toHaveLength(1)
  await until('it is noticed', () => interruptions === 1)
  // These wait until the session is back.
  for (let i = 0; i < 5; i++) one.services.bus.send('wake', { endpointIds: [`${i}`] })
  await until('it is back', () => lost.one === 1)
  other.services.bus.send('wake', { endpointIds: ['after'] })
  await until('all is heard', () => heard.every((list) => list.length === 6))
  expect(heard[1]).toEqual(heard[0])
  expect(lost).toEqual({ one: 1, other: 0 })
  await admin.end()
})

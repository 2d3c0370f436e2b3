// A node that freezes, or a program that hangs, while it holds a row or the head of an audit log: others go on.
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { systemWrite } from '../../../src/server/db/system.ts'
import { countCpuWaits } from '../../support/cpu-time.ts'
import { type Reply, send } from '../../support/harness.ts'
import { everySession } from '../../support/nodes/fault-proxy.ts'
import { type NodeCluster, startSharedCluster } from '../../support/nodes/node-cluster.ts'
import { nodeGroup } from '../../support/nodes/node-group.ts'
import type { ServerNode } from '../../support/nodes/server-node.ts'
import { callAt, newDevicesAt, newRoom, untilReady } from '../../support/nodes/situation.ts'
import { until } from '../../support/program.ts'
import { shortenLimits } from '../../support/short-limits.ts'

/** PostgreSQL ends a session that is idle in a transaction after 2.9 s instead of 5; a write waits as long for a lock. */
const { limits, variable } = shortenLimits(0.3)
/** The promise is a second more than the limit. */
const freeWithinMs = limits.idleTransactionMs + 1_000
const atOnceMs = limits.idleTransactionMs - 500

let cluster: NodeCluster
beforeAll(async () => {
  cluster = await startSharedCluster(2, variable)
})
afterAll(() => cluster.close())

/** The sessions of a node in which PostgreSQL waits for the next statement of a transaction. */
const sessionsInTransaction = ({ name }: ServerNode) =>
  cluster.query(
    `SELECT FROM pg_stat_activity WHERE state LIKE 'idle in tr%' AND datname = current_database()
      AND application_name IN (SELECT 'roomkeeper ' || process FROM nodes WHERE name = $1)`,
    [name],
  )

/** Freezes a node while PostgreSQL waits for it in a transaction that holds the row of this query. */
async function freezeWithRow(node: ServerNode, row: string, values: readonly unknown[]): Promise<void> {
  await until('the node holds the row, and PostgreSQL waits for it', async () => {
    const [unlocked, waiting] = await Promise.all([
      cluster.query(`${row} FOR UPDATE SKIP LOCKED`, values),
      sessionsInTransaction(node),
    ])
    return unlocked.length === 0 && waiting.length > 0
  })
  node.pause()
  onTestFinished(() => node.resume())
}

/** Resolves when the node serves and writes again. Its sessions were ended if another node has declared it dead. */
async function wake(node: ServerNode): Promise<void> {
  node.resume()
  await untilReady([node])
  const write = () => callAt(cluster, node, 'POST', '/rooms', { body: { name: 'Awake' } })
  await until('the node writes again', async () => (await write()).status === 200)
}

/** Expects that the write succeeds as soon as PostgreSQL has ended the session of the frozen node. */
async function expectFree(other: ServerNode, since: number, write: () => Promise<Reply>): Promise<void> {
  const cpuWaitMs = countCpuWaits(other.pid)
  await until('the row can be written', async () => (await write()).status === 200)
  expect(performance.now() - since).toBeLessThan(freeWithinMs + cpuWaitMs())
}

test('a node that freezes with the row of an endpoint: others write to that row within 6 seconds, and to others at once', async () => {
  const [frozen, other] = [cluster.node(0), cluster.node(1)]
  const [held, free] = await newDevicesAt(cluster, frozen, 2)
  const [otherDevice] = await newDevicesAt(cluster, other, 1)
  if (!held || !free || !otherDevice) throw new Error('three devices were asked for')
  const { id: roomId } = await newRoom(cluster, other, 'Fuji')
  // The node locks the row and waits for the answer, which the proxy holds back. With the write itself it would send the commit.
  frozen.proxy.swallow(everySession, 'toClient')
  held.publish('status', { firmwareVersion: '7' }).catch(() => {})
  await freezeWithRow(frozen, 'SELECT id FROM endpoints WHERE id = $1', [held.id])
  frozen.proxy.mend()
  const since = performance.now()
  const cpuWaitMs = countCpuWaits(other.pid)
  const move = (id: string) =>
    callAt(cluster, other, 'POST', '/endpoints/move_paired', { body: { endpointIds: [id], roomId } })
  expect((await move(free.id)).status).toBe(200)
  await otherDevice.publish('status', { firmwareVersion: '8' })
  expect(performance.now() - since).toBeLessThan(atOnceMs + cpuWaitMs())
  await expectFree(other, since, () => move(held.id))
  await wake(frozen)
})

test('a node that freezes with the head of an audit log: others write to that organisation within 6 seconds, and to others at once', async () => {
  const [frozen, other] = [cluster.node(0), cluster.node(1)]
  const { id: secondOrg } = await cluster.json('org', 'create', 'Second')
  const scopes = ['--scope', 'read', '--scope', 'write']
  const { key: secondKey } = await cluster.json('keys', 'create', '--org', secondOrg, '--name', 'k', ...scopes)
  const create = (node: ServerNode, org: string, key: string, name: string) =>
    send(node.url, 'POST', `/v1/orgs/${org}/regions`, { key, body: { name } })
  // The frozen node has locked the head when it asks for the id of the region, and waits for that id.
  await cluster.query(`
    CREATE FUNCTION wait_if_frozen() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF current_setting('application_name') IN (SELECT 'roomkeeper ' || process FROM nodes WHERE name = 'node-1') THEN
        PERFORM pg_sleep(2);
      END IF;
      RETURN NEW;
    END $$`)
  await cluster.query(
    'CREATE TRIGGER wait_if_frozen BEFORE INSERT OR UPDATE ON counters FOR EACH ROW EXECUTE FUNCTION wait_if_frozen()',
  )
  const writing = create(frozen, cluster.org, cluster.key, 'frozen')
  writing.catch(() => {})
  const isAsking = async () => {
    const sessions = "SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
    return (await cluster.query(sessions)).length > 0
  }
  await until('the node asks for the id', isAsking)
  frozen.proxy.swallow(everySession, 'toClient')
  // Other transactions of the node wait for their answers sooner.
  await until('PostgreSQL has answered', async () => !(await isAsking()))
  const head = 'SELECT org FROM audit_heads WHERE org = (SELECT key FROM orgs WHERE id = $1)'
  await freezeWithRow(frozen, head, [cluster.org])
  frozen.proxy.mend()
  const since = performance.now()
  const cpuWaitMs = countCpuWaits(other.pid)
  expect((await create(other, secondOrg, secondKey, 'elsewhere')).status).toBe(200)
  expect(performance.now() - since).toBeLessThan(atOnceMs + cpuWaitMs())
  await expectFree(other, since, () => create(other, cluster.org, cluster.key, 'other'))
  frozen.resume()
  expect((await writing).status).toBe(503)
  const { regions } = (await callAt(cluster, other, 'GET', '/regions')).body
  expect(regions.map(({ name }: { name: string }) => name)).toEqual(['other'])
})

const upsert = systemWrite((db, p: { name: string; value: string }) =>
  db
    .insertInto('settings')
    .values({ name: p.name, value: p.value })
    .onConflict((c) => c.column('name').doUpdateSet({ value: p.value })),
)

test('only the write that touches a locked row is refused, of those that share a commit', async () => {
  const group = await nodeGroup()
  const { db } = (await group.start({ limits })).services
  const put = (name: string, value: string) => db.systemTransaction((tx) => upsert(tx, { name, value }))
  await put('locked', 'before')
  const holder = new pg.Client({ connectionString: group.databaseUrl })
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query("BEGIN; SELECT 1 FROM settings WHERE name = 'locked' FOR UPDATE")
  const since = performance.now()
  const cpuWaitMs = countCpuWaits()
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) => put(i === 7 ? 'locked' : `free-${i}`, 'after')),
  )
  expect(performance.now() - since).toBeLessThan(limits.writeTurnMs + 1_000 + cpuWaitMs())
  const refused = outcomes.flatMap((outcome, i) => (outcome.status === 'rejected' ? [{ i, ...outcome.reason }] : []))
  expect(refused).toEqual([expect.objectContaining({ i: 7, code: 'ABORTED' })])
  const { rows } = await holder.query("SELECT count(*)::int AS count FROM settings WHERE value = 'after'")
  expect(rows[0].count).toBe(19)
})

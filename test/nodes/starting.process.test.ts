// Starts of nodes on one PostgreSQL: names, rows of earlier starts, programs that need the database for themselves, poolers.
import { hostname } from 'node:os'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { nodeLockClass, serverLockKey } from '../../src/server/db/postgres/advisory-locks.ts'
import { takeServerLock } from '../../src/server/db/server-lock.ts'
import { freePort } from '../support/free-port.ts'
import { type NodeGroup, nodeGroup } from '../support/nodes/node-group.ts'
import { pooler } from '../support/nodes/pooler.ts'
import { until } from '../support/program.ts'
import { shortenLimits } from '../support/short-limits.ts'

/** A start waits 2.3 s instead of 5 for nodes that take their locks again, and for its own notification. */
const { limits } = shortenLimits(0.1)

async function connect({ databaseUrl }: NodeGroup): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

const rowsOf = async (client: pg.Client) =>
  (await client.query('SELECT id, name, state, ended_at IS NULL AS "isOpen" FROM nodes ORDER BY id')).rows

test('nodes start beside each other on one database, each with a row of its own that ends with it', async () => {
  const group = await nodeGroup()
  const one = await group.start({ nodeName: 'one' })
  const other = await group.start({ nodeName: 'other' })
  const client = await connect(group)
  const [first, second] = [one.services.node?.id, other.services.node?.id]
  expect(await rowsOf(client)).toEqual([
    { id: first, name: 'one', state: 'up', isOpen: true },
    { id: second, name: 'other', state: 'up', isOpen: true },
  ])
  const ended: number[] = []
  other.services.bus.heard('nodeEnded', ({ nodeId }) => void ended.push(nodeId))
  await one.close()
  await until('the other hears of it', () => ended.length > 0)
  expect(ended).toEqual([first])
  const again = await group.start({ nodeName: 'one' })
  expect(again.services.node?.id).toBeGreaterThan(second ?? 0)
  expect((await rowsOf(client)).map(({ name, state }) => `${name} ${state}`)).toEqual([
    'one left',
    'other up',
    'one up',
  ])
})

test('a name that a living node has is refused, and the sentence says what to do', async () => {
  const group = await nodeGroup()
  const one = await group.start({ nodeName: 'rooms-1' })
  await expect(group.start({ nodeName: 'rooms-1' })).rejects.toThrow(
    /^A node with the name rooms-1 is running on this database\. Stop it, or give this one another name with --node-name\./,
  )
  expect((await fetch(`${one.url}/readyz`)).status).toBe(200)
  expect((await rowsOf(await connect(group))).map(({ state }) => state)).toEqual(['up'])
})

test('a second node without a public address is refused, and the sentence says what to do', async () => {
  const group = await nodeGroup()
  await group.start({ nodeName: 'rooms-1', hasPublicUrl: false })
  await expect(group.start({ hasPublicUrl: false })).rejects.toThrow(
    /^Other nodes serve this database \(rooms-1\).*Set --public-url/,
  )
})

test('a node is named after its host and port unless it is given a name', async () => {
  const group = await nodeGroup()
  const port = await freePort()
  await group.start({ port })
  expect((await rowsOf(await connect(group))).map(({ name }) => name)).toEqual([`${hostname()}:${port}`])
})

test('a start without other nodes declares rows of crashed ones dead at once; beside a living node only those of its own name', async () => {
  const group = await nodeGroup()
  const client = await connect(group)
  const crash = (name: string) =>
    client.query(
      `INSERT INTO nodes (name, version, process, state, beats, changes, started_at) VALUES ($1, '0', $1, 'up', 7, 0, 0)`,
      [name],
    )
  await crash('a')
  await crash('b')
  // The running node does not judge the rows that this test makes: it waits until its own heartbeat has worked for a minute.
  await group.start({ nodeName: 'one', limits: { ...limits, ownBeatsMs: 60_000 } })
  const states = async () => (await rowsOf(client)).map(({ name, state }) => `${name} ${state}`)
  expect(await states()).toEqual(['a dead', 'b dead', 'one up'])
  await crash('c')
  await crash('other')
  await group.start({ nodeName: 'other' })
  expect(await states()).toEqual(['a dead', 'b dead', 'one up', 'c up', 'other dead', 'other up'])
})

test('a start right after a failover declares no living node dead that has not taken its lock again yet', async () => {
  const group = await nodeGroup()
  const client = await connect(group)
  // A promoted standby says when it last replayed a transaction. This function says so instead of the one of PostgreSQL.
  await client.query(`CREATE FUNCTION public.pg_last_xact_replay_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT now()';
    DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database()); END $$`)
  const { rows } = await client.query(
    `INSERT INTO nodes (name, version, process, state, beats, changes, started_at) VALUES ('living', '0', 'x', 'up', 7, 0, 0) RETURNING id`,
  )
  // The start goes on when it sees the lock, so a long limit costs no time.
  const starting = group.start({ nodeName: 'one', limits: { ...limits, nodeRelockMs: 60_000 } })
  const isWaiting =
    "state = 'idle' AND query = 'COMMIT' AND application_name LIKE 'roomkeeper%' AND datname = current_database()"
  await until('the start has seen the row', async () => {
    const { rowCount } = await client.query(`SELECT FROM pg_stat_activity WHERE ${isWaiting}`)
    return rowCount === 1
  })
  await client.query('SELECT pg_advisory_lock($1, $2)', [nodeLockClass, rows[0].id])
  await starting
  expect((await rowsOf(client)).map(({ name, state }) => `${name} ${state}`)).toEqual(['living up', 'one up'])
})

test('a start is refused while a program has the database for itself, such as version 0.1, and goes beside no such program', async () => {
  const group = await nodeGroup()
  const client = await connect(group)
  await client.query('SELECT pg_advisory_lock($1)', [serverLockKey])
  await expect(group.start()).rejects.toThrow(/^Another program uses this database for itself: an older Roomkeeper/)
  await client.query('SELECT pg_advisory_unlock($1)', [serverLockKey])
  const node = await group.start()
  await group.start()
  await expect(takeServerLock({ dataDir: '', databaseUrl: group.databaseUrl })).rejects.toThrow(
    /^Another Roomkeeper server is running on this database/,
  )
  expect((await client.query('SELECT pg_try_advisory_lock($1) AS taken', [serverLockKey])).rows[0].taken).toBe(false)
  expect((await fetch(`${node.url}/readyz`)).status).toBe(200)
})

test('a node whose database another program took while its session was lost must stop', async () => {
  const group = await nodeGroup()
  const node = await group.start()
  const client = await connect(group)
  // The lock is requested before the session ends, so that it is granted before the node is back.
  const other = await connect(group)
  const taking = other.query('SELECT pg_advisory_lock($1)', [serverLockKey])
  await until('it waits', async () => {
    const { rowCount } = await client.query("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
    return rowCount === 1
  })
  await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND objid = $1
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [node.services.node?.id],
  )
  await taking
  await node.taken
})

test('a connection through a pooler that assigns connections per transaction is refused', async () => {
  const group = await nodeGroup()
  const databaseUrl = await pooler(group.databaseUrl)
  await expect(group.start({ databaseUrl, limits })).rejects.toThrow(
    /goes through a pooler that assigns connections per transaction.*Name the PostgreSQL server itself with --database-url\.$/,
  )
})

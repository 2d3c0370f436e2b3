// Nodes as real processes that are killed or frozen, and a PostgreSQL that crashes: who is declared dead, and when.
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { startCluster } from '../../support/database/postgres-cluster.ts'
import { createDatabase } from '../../support/database/postgres-tables.ts'
import { newPlace } from '../../support/harness.ts'
import { isFullForm } from '../../support/long-form.ts'
import { Site, siteForTest, until } from '../../support/program.ts'
import { shortenLimits } from '../../support/short-limits.ts'

/** A node without a heartbeat is dead after 2.6 s instead of 5, or 4.6 s instead of 15 while its lock is held. */
const { limits, variable } = shortenLimits(0.2)
const secondsOf = (ms: number) => ms / 1_000
const [unlockedSeconds, lockedSeconds] = [secondsOf(limits.unlockedNodeMs), secondsOf(limits.lockedNodeMs)]
/** The contract promises a second more than the limit. Half a second is for a busy machine, and for the questions of this test. */
const slackSeconds = 1.5

const states = async (site: Site) =>
  Object.fromEntries(
    (await site.sql('SELECT name, id, state FROM nodes ORDER BY id')).map(({ name, id, state }) => [
      `${name} ${id}`,
      state,
    ]),
  )

/** Seconds until a row is dead, by this process's clock. */
async function secondsUntilDead(site: Site, row: string, limitSeconds: number): Promise<number> {
  const since = performance.now()
  const isDead = async () => (await states(site))[row] === 'dead'
  await until(`${row} is dead`, isDead, { timeoutMs: limitSeconds * 1_000, everyMs: 50 })
  return (performance.now() - since) / 1_000
}

/** A session that counts as one of the node's process, and holds the lock on its row that such a session may hold. */
async function lockOwnRow(site: Site, name: string) {
  const [row] = await site.sql(`SELECT id, process FROM nodes WHERE name = '${name}'`)
  const holder = new pg.Client({
    connectionString: site.databaseUrl ?? '',
    application_name: `roomkeeper ${row?.process}`,
  })
  const isEnded = new Promise<void>((resolve) => void holder.on('error', () => resolve()))
  onTestFinished(() => holder.end())
  await holder.connect()
  await holder.query(`BEGIN; SELECT FROM nodes WHERE id = ${row?.id} FOR UPDATE`)
  return { id: row?.id, isEnded }
}

test('a killed node is dead within 6 seconds, a frozen one within 16; when that wakes, it is fenced and goes on with a new row', async () => {
  const site = await siteForTest(variable)
  const start = (name: string) => site.serveNode(name)
  const watcher = await start('watcher')
  const killed = await start('killed')
  const frozen = await start('frozen')
  const [watcherId, killedId, frozenId] = [1, 2, 3]
  const up = { [`watcher ${watcherId}`]: 'up', [`killed ${killedId}`]: 'up', [`frozen ${frozenId}`]: 'up' }
  expect(await states(site)).toEqual(up)
  await until('the watcher has beaten for long enough to judge others', async () => {
    const [row] = await site.sql(`SELECT beats::int FROM nodes WHERE id = ${watcherId}`)
    return (row?.beats as number) > secondsOf(limits.ownBeatsMs) + 1
  })
  killed.signal('SIGKILL')
  frozen.signal('SIGSTOP')
  const lock = isFullForm ? undefined : await lockOwnRow(site, 'frozen')
  const killedSeconds = await secondsUntilDead(site, `killed ${killedId}`, 10)
  const frozenSeconds = killedSeconds + (await secondsUntilDead(site, `frozen ${frozenId}`, 20))
  expect(killedSeconds).toBeLessThan(unlockedSeconds + slackSeconds)
  expect(frozenSeconds).toBeLessThan(lockedSeconds + slackSeconds)
  expect(frozenSeconds).toBeGreaterThan(lockedSeconds - 1.5)
  await lock?.isEnded
  // The locks of the frozen process are released, because its sessions were ended.
  const sessions =
    await site.sql(`SELECT a.pid FROM pg_stat_activity a JOIN nodes n ON a.application_name = 'roomkeeper ' || n.process
    WHERE a.datname = current_database() AND n.id = ${frozenId}`)
  expect(sessions).toEqual([])
  frozen.signal('SIGCONT')
  await frozen.printed(/"msg":"this node was declared dead, continuing under a new id"/, 'stderr')
  expect(await states(site)).toEqual({
    [`watcher ${watcherId}`]: 'up',
    [`killed ${killedId}`]: 'dead',
    [`frozen ${frozenId}`]: 'dead',
    'frozen 4': 'up',
  })
  for (const { url } of [watcher, frozen]) {
    await until('it is ready', async () => (await fetch(`${url}/readyz`)).status === 200)
  }
  await start('killed')
  expect((await states(site))['killed 5']).toBe('up')
})

// In the short form this is part of the test above.
test.runIf(isFullForm)(
  'a frozen node that holds a lock on its own row is dead within 16 seconds: its sessions are ended first',
  async () => {
    const site = await siteForTest(variable)
    await site.serveNode('watcher')
    const frozen = await site.serveNode('frozen')
    frozen.signal('SIGSTOP')
    const { id, isEnded } = await lockOwnRow(site, 'frozen')
    expect(await secondsUntilDead(site, `frozen ${id}`, 25)).toBeLessThan(lockedSeconds + slackSeconds)
    await isEnded
  },
)

test('a crash of PostgreSQL, which ends all sessions and releases all locks, makes no node dead', async () => {
  const cluster = await startCluster({ fsync: 'off' })
  onTestFinished(() => cluster.stop())
  const { databaseUrl } = await createDatabase(cluster.url)
  const { place, remove } = await newPlace()
  const site = new Site({ dataDir: place.dataDir, databaseUrl }, remove)
  onTestFinished(() => site.close())
  const nodes = [await site.serveNode('one'), await site.serveNode('other')]
  const client = new pg.Client({ connectionString: databaseUrl })
  client.on('error', () => {})
  await client.connect()
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
  // A killed backend makes PostgreSQL end all others and recover.
  process.kill(rows[0].pid, 'SIGKILL')
  for (const node of nodes) {
    await node.printed(/"msg":"message session lost, connecting again"/, 'stderr')
    await node.printed(/"msg":"message session is back after the database connection was lost"/, 'stderr')
  }
  const beats = async () =>
    (await site.sql('SELECT beats::int FROM nodes ORDER BY id')).map((row) => row.beats as number)
  const before = await beats()
  await until('both have beaten six times more', async () => {
    const now = await beats()
    return now.every((count, i) => count >= (before[i] ?? 0) + 6)
  })
  expect(await states(site)).toEqual({ 'one 1': 'up', 'other 2': 'up' })
})

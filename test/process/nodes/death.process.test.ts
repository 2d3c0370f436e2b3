// Nodes as real processes that are killed or frozen: who is declared dead, and when, and what happens to their devices.
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { countCpuWaits } from '../../support/cpu-time.ts'
import { isFullForm } from '../../support/long-form.ts'
import { clusterForTest, type NodeCluster } from '../../support/nodes/node-cluster.ts'
import type { ServerNode } from '../../support/nodes/server-node.ts'
import {
  connectedAt,
  connectTo,
  enrolAt,
  newDevicesAt,
  newRoom,
  untilOffline,
  untilReady,
} from '../../support/nodes/situation.ts'
import { until } from '../../support/program.ts'
import { shortenLimits } from '../../support/short-limits.ts'

/** A node without a heartbeat is dead after 2.6 s instead of 5, or 4.6 s instead of 15 while its lock is held. */
const { limits, variable } = shortenLimits(0.2)
const secondsOf = (ms: number) => ms / 1_000
const [unlockedSeconds, lockedSeconds] = [secondsOf(limits.unlockedNodeMs), secondsOf(limits.lockedNodeMs)]
/** The contract promises a second more than the limit. Half a second is for the questions of this test. */
const slackSeconds = 1.5
/** A node that wakes notices with its next beat or commit. */
const disconnectedWithinMs = 5_000

const states = async (cluster: NodeCluster) =>
  Object.fromEntries(
    (await cluster.query('SELECT name, id, state FROM nodes ORDER BY id')).map(({ name, id, state }) => [
      `${name} ${id}`,
      state,
    ]),
  )

/** Seconds from `since` until a row is dead, by this process's clock. */
async function secondsUntilDead(cluster: NodeCluster, row: string, since: number): Promise<number> {
  const isDead = async () => (await states(cluster))[row] === 'dead'
  await until(`${row} is dead`, isDead, { timeoutMs: 25_000, everyMs: 50 })
  return secondsOf(performance.now() - since)
}

/** A session that counts as one of the node's process, and holds the lock on its row that such a session may hold. */
async function lockOwnRow(cluster: NodeCluster, { name }: ServerNode) {
  const [row] = await cluster.query('SELECT id, process FROM nodes WHERE name = $1', [name])
  const holder = new pg.Client({
    connectionString: cluster.databaseUrl,
    application_name: `roomkeeper ${row?.process}`,
  })
  const isEnded = new Promise<void>((resolve) => void holder.on('error', () => resolve()))
  onTestFinished(() => holder.end())
  await holder.connect()
  await holder.query(`BEGIN; SELECT FROM nodes WHERE id = ${row?.id} FOR UPDATE`)
  return { id: row?.id, isEnded }
}

test('a killed node is dead within 6 seconds; a frozen one and its devices within 16; when it wakes, it goes on with a new row, disconnects its devices and marks none offline that moved', async () => {
  const cluster = await clusterForTest(3, variable)
  const [watcher, killed, frozen] = [cluster.node(0), cluster.node(1), cluster.node(2)]
  const idOf = new Map((await cluster.query('SELECT name, id FROM nodes')).map(({ name, id }) => [name, id]))
  const rowOf = ({ name }: ServerNode) => `${name} ${idOf.get(name)}`
  expect(await states(cluster)).toEqual({ [rowOf(watcher)]: 'up', [rowOf(killed)]: 'up', [rowOf(frozen)]: 'up' })
  const left = await newDevicesAt(cluster, frozen, 2)
  const identity = await enrolAt(frozen, (await newRoom(cluster, frozen)).dec)
  const before = await connectTo(frozen, identity)
  expect(await connectedAt(cluster, watcher)).toEqual(new Set([...left, before].map(({ id }) => id)))
  await until('the watcher has beaten for long enough to judge others', async () => {
    const [row] = await cluster.query(`SELECT beats::int FROM nodes WHERE name = '${watcher.name}'`)
    return (row?.beats as number) > secondsOf(limits.ownBeatsMs) + 1
  })
  const since = performance.now()
  const cpuWaitMs = countCpuWaits(watcher.pid)
  frozen.pause()
  await killed.kill()
  const lock = isFullForm ? undefined : await lockOwnRow(cluster, frozen)
  const moved = await connectTo(watcher, identity)
  const killedSeconds = await secondsUntilDead(cluster, rowOf(killed), since)
  const frozenSeconds = await secondsUntilDead(cluster, rowOf(frozen), since)
  const offlineSeconds = (await untilOffline(cluster, watcher, left, since)) / 1_000
  const slack = slackSeconds + secondsOf(cpuWaitMs())
  expect(killedSeconds).toBeLessThan(unlockedSeconds + slack)
  expect(frozenSeconds).toBeLessThan(lockedSeconds + slack)
  expect(frozenSeconds).toBeGreaterThan(lockedSeconds - 1.5)
  expect(offlineSeconds).toBeLessThan(lockedSeconds + slack)
  await lock?.isEnded
  // The locks of the frozen process are released, because its sessions were ended.
  const sessions =
    await cluster.query(`SELECT a.pid FROM pg_stat_activity a JOIN nodes n ON a.application_name = 'roomkeeper ' || n.process
    WHERE a.datname = current_database() AND n.name = '${frozen.name}'`)
  expect(sessions).toEqual([])
  expect(await connectedAt(cluster, watcher)).toEqual(new Set([moved.id]))

  const resumedAt = performance.now()
  const wakingWaitMs = countCpuWaits(frozen.pid)
  frozen.resume()
  await Promise.all([...left, before].map((device) => device.ended(60_000)))
  expect(performance.now() - resumedAt).toBeLessThan(disconnectedWithinMs + wakingWaitMs())
  await until('the node goes on with a new row', () =>
    frozen.output.includes('"msg":"this node was declared dead, continuing under a new id"'),
  )
  const lastId = Math.max(...[...idOf.values()].map(Number))
  expect(await states(cluster)).toEqual({
    [rowOf(watcher)]: 'up',
    [rowOf(killed)]: 'dead',
    [rowOf(frozen)]: 'dead',
    [`${frozen.name} ${lastId + 1}`]: 'up',
  })
  await untilReady([watcher, frozen])
  // Both nodes agree about all devices.
  for (let i = 0; i < 20; i++) {
    expect(await connectedAt(cluster, watcher)).toEqual(new Set([moved.id]))
    await pause(100)
  }
  expect(await connectedAt(cluster, frozen)).toEqual(new Set([moved.id]))
  const [back] = left
  if (!back) throw new Error('two devices were asked for')
  await back.connect()
  await back.publish('status', { firmwareVersion: 'after' })
  expect(await connectedAt(cluster, watcher)).toEqual(new Set([moved.id, back.id]))
  await killed.start()
  expect((await states(cluster))[`${killed.name} ${lastId + 2}`]).toBe('up')
})

// In the short form this is part of the test above.
test.runIf(isFullForm)(
  'a frozen node that holds a lock on its own row is dead within 16 seconds: its sessions are ended first',
  async () => {
    const cluster = await clusterForTest(2, variable)
    const frozen = cluster.node(1)
    const since = performance.now()
    const cpuWaitMs = countCpuWaits(cluster.node(0).pid)
    frozen.pause()
    const { id, isEnded } = await lockOwnRow(cluster, frozen)
    const seconds = await secondsUntilDead(cluster, `${frozen.name} ${id}`, since)
    expect(seconds).toBeLessThan(lockedSeconds + slackSeconds + secondsOf(cpuWaitMs()))
    await isEnded
  },
)

// PostgreSQL restarts or crashes, or the network to it swallows everything: devices stay, callers are answered, and no node is declared dead.
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { countCpuWaits } from '../../support/cpu-time.ts'
import { send } from '../../support/harness.ts'
import { type NodeCluster, startDurableCluster } from '../../support/nodes/node-cluster.ts'
import { callAt, countNodes, isConnectionOpen, newDevicesAt, timed, untilReady } from '../../support/nodes/situation.ts'
import { until } from '../../support/program.ts'

const noticedWithinMs = 2000
const answeredWithinMs = 12_000
const slackMs = 1000

let cluster: NodeCluster
beforeAll(async () => {
  cluster = await startDurableCluster(2)
})
afterAll(() => cluster.close())

test('a restart of PostgreSQL disconnects no device, loses no sample, and kills no node; a swallowing network is noticed in time', async () => {
  const [first, second] = [cluster.node(0), cluster.node(1)]
  const cpuWaitMs = countCpuWaits(first.pid, second.pid)
  const devices = [...(await newDevicesAt(cluster, first, 2)), ...(await newDevicesAt(cluster, second, 2))]
  const start = Math.floor(Date.now() / 1000) - 20 * 86_400
  const sample = (minute: number) => ({ samples: [{ timestamp: start + minute * 60, co2: 400 + minute }] })
  for (const device of devices) await device.publish('sample', sample(0))

  await cluster.postgres.stop('fast')
  let acknowledged = 0
  for (const device of devices) {
    device.publish('sample', sample(1)).then(
      () => acknowledged++,
      () => {},
    )
  }
  for (const node of cluster.nodes) {
    const read = await timed(() => callAt(cluster, node, 'GET', '/endpoints'))
    expect(read.status, 'nothing cached is served').toBe(503)
    const write = await timed(() => callAt(cluster, node, 'POST', '/regions', { body: { name: 'during' } }))
    expect(write.status).toBe(503)
    for (const { headers, ms } of [read, write]) {
      expect(headers.get('retry-after')).toMatch(/^\d+$/)
      expect(ms).toBeLessThan(answeredWithinMs + cpuWaitMs())
    }
  }
  await pause(5000)
  await cluster.postgres.startAgain()
  await untilReady(cluster.nodes)
  expect(devices.every(isConnectionOpen), 'no device was disconnected').toBe(true)
  await until('the samples are acknowledged', () => acknowledged === devices.length)
  const stored = await cluster.query('select timestamp from samples')
  expect(stored.map(({ timestamp }) => Number(timestamp) - start).toSorted((a, b) => a - b)).toEqual([
    ...devices.map(() => 0),
    ...devices.map(() => 60),
  ])
  expect({ dead: await countNodes(cluster, 'dead'), up: await countNodes(cluster, 'up') }).toEqual({ dead: 0, up: 2 })
  expect(await cluster.query("select 1 from regions where name = 'during'")).toEqual([])

  for (const path of ['/endpoints', `/endpoints/${devices[0]?.id}`]) {
    expect((await callAt(cluster, second, 'GET', path)).status).toBe(200)
  }
  const swallowedAt = performance.now()
  second.proxy.swallow()
  await until('/readyz is 503', async () => (await send(second.url, 'GET', '/readyz')).status === 503)
  expect(performance.now() - swallowedAt).toBeLessThan(noticedWithinMs + slackMs + cpuWaitMs())
  const paths = ['/endpoints', `/endpoints/${devices[0]?.id}`, '/regions', '/rooms']
  for (const { status, ms } of await Promise.all(
    paths.map((path) => timed(() => callAt(cluster, second, 'GET', path))),
  )) {
    expect(status, 'nothing cached is served').toBe(503)
    expect(ms).toBeLessThan(answeredWithinMs + cpuWaitMs())
  }
  expect((await callAt(cluster, first, 'GET', '/endpoints')).status, 'the other node goes on').toBe(200)
  second.proxy.mend()
  await untilReady(cluster.nodes)
})

test('a write that was made never gets a 503 with Retry-After, and one of unknown outcome says: read before you try again', async () => {
  const node = cluster.node(0)
  // The statements arrive, COMMIT among them, and no answer comes back before the connection is lost.
  const create = (name: string) => timed(() => callAt(cluster, node, 'POST', '/regions', { body: { name } }))
  expect((await create('before')).status).toBe(200)
  const cpuWaitMs = countCpuWaits(node.pid)
  const replies: Array<{ readonly name: string } & Awaited<ReturnType<typeof create>>> = []
  let count = 0
  let isCut = false
  // They go on until the connection is cut, so that it is cut in the middle of a write.
  const writer = async () => {
    while (!isCut) {
      const name = `unknown-${count++}`
      replies.push({ name, ...(await create(name)) })
    }
  }
  const writing = Promise.all(Array.from({ length: 10 }, writer))
  await until(
    'a write waits for its COMMIT',
    async () => {
      const rows = await cluster.query(
        "select 1 from pg_stat_activity where query ~* '^commit' and state <> 'idle' or query ~* 'insert into .?regions'",
      )
      return rows.length > 0
    },
    { everyMs: 1 },
  )
  node.proxy.swallow(undefined, 'toClient')
  isCut = true
  await pause(500)
  node.proxy.reset()
  node.proxy.mend()
  await writing
  const { regions } = (await callAt(cluster, node, 'GET', '/regions')).body
  const stored = new Set(regions.map(({ name }: { name: string }) => name))
  for (const { name, status, headers, body, ms } of replies) {
    const isStored = stored.has(name)
    expect(ms).toBeLessThan(answeredWithinMs + cpuWaitMs())
    if (status === 200) expect(isStored).toBe(true)
    else if (headers.get('retry-after') !== null) expect(isStored, 'refused').toBe(false)
    else {
      expect(status).toBe(503)
      expect(body.message).toMatch(/read|check/i)
    }
  }
})

test('a crash of PostgreSQL, which ends all sessions and releases all locks, makes no node dead', async () => {
  const outputs = cluster.nodes.map((node) => ({ node, before: node.output.length }))
  const [{ pid } = {}] = await cluster.query(
    "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1",
  )
  // A killed backend makes PostgreSQL end all others and recover.
  process.kill(Number(pid), 'SIGKILL')
  for (const { node, before } of outputs) {
    const isLost = () => node.output.slice(before).includes('"msg":"message session lost, connecting again"')
    await until('the message session is lost', isLost)
  }
  const beats = async () =>
    (await cluster.query('SELECT beats::int FROM nodes ORDER BY id')).map((row) => row.beats as number)
  const before = await until('PostgreSQL is back', () => beats().catch(() => undefined))
  await until('both have beaten six times more', async () => {
    const now = await beats()
    return now.every((count, i) => count >= (before[i] ?? 0) + 6)
  })
  expect({ dead: await countNodes(cluster, 'dead'), up: await countNodes(cluster, 'up') }).toEqual({ dead: 0, up: 2 })
})

// kill -9 of nodes: their devices are offline in time, what was acknowledged is there, and their scheduled tasks go on.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { clusterForTest } from '../../support/nodes/node-cluster.ts'
import { callAt, connectedAt, newDevicesAt, untilOffline } from '../../support/nodes/situation.ts'
import { until } from '../../support/program.ts'

const offlineWithinMs = 6000
const tasksWithinMs = 20_000
/** With a beat more than the 15 s that a node must have been up. */
const observingAfterMs = 16_500
/** For the test's own reads on a busy machine. */
const slackMs = 1500

test('after kill -9 devices are offline within 6 s, tasks go on within 20 s, and nothing acknowledged is lost', async () => {
  const cluster = await clusterForTest(3)
  const [first, second, third] = [cluster.node(0), cluster.node(1), cluster.node(2)]
  const lost = [...(await newDevicesAt(cluster, first, 3)), ...(await newDevicesAt(cluster, second, 2))]
  const [left] = await newDevicesAt(cluster, third, 1)
  if (!left) throw new Error('a device was asked for')
  expect(await connectedAt(cluster, third)).toEqual(new Set([...lost, left].map(({ id }) => id)))

  // A node that has not been up for 15 s declares no other one dead.
  await pause(Math.max(0, cluster.startedAt + observingAfterMs - performance.now()))

  const acknowledged: string[] = []
  let isKilled = false
  const write = async (writer: number) => {
    for (let i = 0; !isKilled; i++) {
      const name = `${writer}-${i}`
      const node = cluster.node(writer % 2)
      const reply = await callAt(cluster, node, 'POST', '/regions', { body: { name } }).catch(() => undefined)
      if (reply?.status === 200) acknowledged.push(name)
    }
  }
  const writers = Promise.all([0, 1, 2, 3].map(write))
  await until('writers write', () => acknowledged.length > 20)
  // The node that was started first has the scheduled tasks, so the third must take them over.
  const killedAt = performance.now()
  await Promise.all([first.kill(), second.kill()])
  isKilled = true
  await writers

  const timestamp = Math.floor(Date.now() / 1000) - 20 * 86_400
  await left.publish('sample', { samples: [{ timestamp, co2: 500 }] })
  expect(await untilOffline(cluster, third, lost, killedAt)).toBeLessThan(offlineWithinMs + slackMs)
  expect(await connectedAt(cluster, third)).toEqual(new Set([left.id]))

  await until(
    'the sample is rolled up',
    async () => (await cluster.query('select 1 from sample_quarters')).length > 0,
    { within: tasksWithinMs + slackMs - (performance.now() - killedAt) },
  )
  const { regions } = (await callAt(cluster, third, 'GET', '/regions')).body
  const names = regions.map(({ name }: { name: string }) => name)
  expect(names).toEqual(expect.arrayContaining(acknowledged))
  expect(new Set(names).size, 'none is there twice').toBe(names.length)
}, 180_000)

// A node holds the head of an audit log and freezes: others go on, and only what touches that row is refused until then.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { clusterForTest } from '../../support/nodes/node-cluster.ts'
import { callAt, newDevicesAt, timed } from '../../support/nodes/situation.ts'
import { until } from '../../support/program.ts'

const othersWithinMs = 6000
const slackMs = 1000

test('others write again within 6 s, and reads and samples never wait', async () => {
  const cluster = await clusterForTest(2)
  const [frozen, other] = [cluster.node(0), cluster.node(1)]
  const [device] = await newDevicesAt(cluster, other, 1)
  if (!device) throw new Error('a device was asked for')
  const create = (node: typeof other, name: string) =>
    callAt(cluster, node, 'POST', '/regions', { body: { name } }).catch(() => undefined)
  let isWriting = true
  onTestFinished(() => {
    isWriting = false
  })
  const writer = async (number: number) => {
    for (let i = 0; isWriting; i++) await create(frozen, `frozen-${number}-${i}`)
  }
  const writers = Promise.all([0, 1, 2, 3].map(writer))

  // A transaction that holds the head is open most of the time. If none is when the node freezes, it freezes again.
  const heldSince = await until(
    'the frozen node holds the head of the audit log',
    async () => {
      frozen.pause()
      const frozenAt = performance.now()
      await pause(50)
      const held = await cluster.query("set lock_timeout = '20ms'; select 1 from audit_heads for update").then(
        () => false,
        ({ code }) => code === '55P03',
      )
      if (held) return frozenAt
      frozen.resume()
      await pause(20)
      return undefined
    },
    { within: 15_000 },
  )

  const timestamp = Math.floor(Date.now() / 1000) - 20 * 86_400
  const sampled = timed(async () => {
    await device.publish('sample', { samples: [{ timestamp, co2: 500 }] })
    return callAt(cluster, other, 'GET', '/regions')
  })
  const read = await sampled
  expect(read.status).toBe(200)
  expect(read.ms, 'reads and samples do not wait').toBeLessThan(2000)
  await until('another node writes', async () => (await create(other, 'after'))?.status === 200, { every: 100 })
  expect(performance.now() - heldSince).toBeLessThan(othersWithinMs + slackMs)
  frozen.resume()
  isWriting = false
  await writers
}, 180_000)

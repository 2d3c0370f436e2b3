// A node that is stopped (SIGSTOP) for longer than nodes live without a heartbeat: its devices are offline in time, and when it wakes it changes no presence.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { clusterForTest } from '../../support/nodes/node-cluster.ts'
import { connectedAt, connectTo, enrolAt, newDevicesAt, newRoom, untilOffline } from '../../support/nodes/situation.ts'
import { shortenLimits } from '../../support/short-limits.ts'

/** A frozen node is dead after 4.6 s instead of 15. */
const { limits, variable } = shortenLimits(0.2)
const pauseMs = limits.lockedNodeMs + 3000
/** The contract promises a second more than the limit. */
const offlineWithinMs = limits.lockedNodeMs + 1000
const slackMs = 1500
/** A node that wakes notices with its next beat or commit. */
const disconnectedWithinMs = 5000

test('the devices of a frozen node are offline within 16 s; when the node wakes, it disconnects them and marks none offline that moved', async () => {
  const cluster = await clusterForTest(2, variable)
  const [frozen, other] = [cluster.node(0), cluster.node(1)]
  const left = await newDevicesAt(cluster, frozen, 3)
  const { dec } = await newRoom(cluster, frozen)
  const identity = await enrolAt(frozen, dec)
  const before = await connectTo(frozen, identity)
  expect(await connectedAt(cluster, other)).toEqual(new Set([...left, before].map(({ id }) => id)))

  const pausedAt = performance.now()
  frozen.pause()
  const moved = await connectTo(other, identity)
  expect(await untilOffline(cluster, other, left, pausedAt)).toBeLessThan(offlineWithinMs + slackMs)
  expect(await connectedAt(cluster, other)).toEqual(new Set([moved.id]))
  await pause(Math.max(0, pausedAt + pauseMs - performance.now()))
  frozen.resume()
  await Promise.all([...left, before].map((device) => device.ended(disconnectedWithinMs)))

  // The node that woke up goes on with a new row, and both nodes agree about everybody.
  for (let i = 0; i < 20; i++) {
    expect(await connectedAt(cluster, other)).toEqual(new Set([moved.id]))
    await pause(100)
  }
  expect(await connectedAt(cluster, frozen)).toEqual(new Set([moved.id]))
  const back = left[0]
  if (!back) throw new Error('three devices were asked for')
  await back.connect()
  await back.publish('status', { firmwareVersion: 'after' })
  expect(await connectedAt(cluster, other)).toEqual(new Set([moved.id, back.id]))
})

// One node alone cannot reach PostgreSQL: after 45 s it disconnects its devices and refuses new ones, so that they go elsewhere.
import { expect, test } from 'vitest'
import { clusterForTest } from '../../support/nodes/node-cluster.ts'
import {
  connectTo,
  enrolAt,
  isConnectionOpen,
  newDevicesAt,
  newRoom,
  untilReady,
} from '../../support/nodes/situation.ts'
import { until } from '../../support/program.ts'

const disconnectsAfterMs = 45_000
const slackMs = 3000

test.each(['cut', 'swallow'] as const)(
  'after 45 s of a network that does %s, devices are told to go elsewhere',
  async (fault) => {
    const cluster = await clusterForTest(2)
    const [alone, other] = [cluster.node(0), cluster.node(1)]
    const devices = await newDevicesAt(cluster, alone, 3)
    const { dec } = await newRoom(cluster, alone)
    const identity = await enrolAt(alone, dec)
    const begun = performance.now()
    alone.proxy[fault]()
    await until('the devices are disconnected', () => devices.every((device) => !isConnectionOpen(device)), {
      everyMs: 100,
      timeoutMs: disconnectsAfterMs + slackMs,
    })
    const elapsed = performance.now() - begun
    expect(elapsed).toBeGreaterThan(disconnectsAfterMs - slackMs)
    const refused = await connectTo(alone, identity).catch((error) => error)
    expect(refused, 'CONNACK 3').toMatchObject({ code: 3 })
    await connectTo(other, identity)
    alone.proxy.mend()
    await untilReady(cluster.nodes)
  },
)

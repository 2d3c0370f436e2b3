// Tests an outage of PostgreSQL of 28 s, about as long as a slow failover: no device is disconnected, and no node is declared dead.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { longCountsFrom, report } from '../../support/endurance/counts.ts'
import { durableClusterForTest } from '../../support/nodes/node-cluster.ts'
import { countNodes } from '../../support/nodes/situation.ts'
import { Trial } from '../../support/nodes/trial/trial.ts'

const { seed } = longCountsFrom(process.env)
const outageMs = 28_000

test('an outage of PostgreSQL of 28 s disconnects no device with a keep-alive of 30 s, loses no acknowledged sample and kills no node [contract 8.outage]', async () => {
  const cluster = await durableClusterForTest(3)
  const trial = new Trial(cluster, {
    seed,
    rooms: 5,
    devicesPerRoom: 20,
    sampleEveryMs: 1000,
    statusEveryMs: 2000,
    writeMs: 100,
    readMs: 50,
    commandMs: 250,
    followMs: 3000,
    slackMs: 2000,
  })
  const figures = await trial.run(async (faults) => {
    await pause(10_000)
    await faults.restartPostgres('kill', outageMs)
    // A node that was silent for 15 s would be declared dead by now.
    await pause(20_000)
  })
  report('outage of PostgreSQL', seed, figures)
  expect(figures['ended by nodes']).toBe(0)
  expect({ dead: await countNodes(cluster, 'dead'), up: await countNodes(cluster, 'up') }).toEqual({ dead: 0, up: 3 })
})

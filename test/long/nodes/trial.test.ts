// The long form of the trial of several nodes: random faults for 20 minutes, and a failover to a real standby.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { longCountsFrom, report } from '../../support/endurance/counts.ts'
import type { SeededChoices } from '../../support/endurance/random.ts'
import { durableClusterForTest, type NodeCluster } from '../../support/nodes/node-cluster.ts'
import { countNodes } from '../../support/nodes/situation.ts'
import { type Faults, randomFaults } from '../../support/nodes/trial/faults.ts'
import { Trial, type TrialOptions } from '../../support/nodes/trial/trial.ts'

const { seed, nodeSeconds } = longCountsFrom(process.env)
const options: TrialOptions = {
  seed,
  rooms: 10,
  devicesPerRoom: 30,
  sampleEveryMs: 2000,
  statusEveryMs: 5000,
  writeMs: 100,
  readMs: 50,
  commandMs: 250,
  followMs: 3000,
  slackMs: 2000,
}

/** Makes faults at random nodes, one after the other, until the time is over. */
async function makeRandomFaults(faults: Faults, { nodes }: NodeCluster, choices: SeededChoices, seconds: number) {
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) {
    await pause(1000 + choices.below(10_000))
    await choices.pick(randomFaults)(faults, choices.pick(nodes), choices)
  }
}

test('20 minutes of random faults break no promise of three nodes', async () => {
  const trial = new Trial(await durableClusterForTest(3), options)
  const figures = await trial.run(async (faults, choices) => {
    await makeRandomFaults(faults, trial.cluster, choices, nodeSeconds)
    await pause(5000)
  })
  report('long trial of nodes', seed, figures)
  expect(figures.faults).toBeGreaterThan(nodeSeconds / 60)
})

test('a failover to a synchronous standby, among random faults, loses nothing acknowledged and kills no node', async () => {
  const cluster = await durableClusterForTest(3)
  const standby = await cluster.startStandby()
  await cluster.postgres.requireStandby()
  const trial = new Trial(cluster, options)
  const figures = await trial.run(async (faults, choices) => {
    await makeRandomFaults(faults, cluster, choices, nodeSeconds / 4)
    // By then every node that a fault has silenced is dead or back.
    await pause(20_000)
    const before = await countNodes(cluster, 'dead')
    await faults.failOver(standby)
    await pause(30_000)
    expect(await countNodes(cluster, 'dead')).toBe(before)
    await makeRandomFaults(faults, cluster, choices, nodeSeconds / 4)
    await pause(5000)
  })
  report('failover to a standby', seed, figures)
  // Half of the time has random faults. Fewer than one in a minute of it would mean that they did not run.
  expect(figures.faults).toBeGreaterThan(nodeSeconds / 120)
})

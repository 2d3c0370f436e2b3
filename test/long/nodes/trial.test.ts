// The long form of the trial of several nodes: random faults for 20 minutes, and a failover to a real standby.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { longCountsFrom, report } from '../../support/endurance/counts.ts'
import { durableClusterForTest } from '../../support/nodes/node-cluster.ts'
import { randomFaults } from '../../support/nodes/trial/faults.ts'
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

test('20 minutes of random faults break no promise of three nodes', async () => {
  const trial = new Trial(await durableClusterForTest(3), options)
  const figures = await trial.run(async (faults, choices) => {
    const end = performance.now() + nodeSeconds * 1000
    while (performance.now() < end) {
      await pause(1000 + choices.below(10_000))
      await choices.pick(randomFaults)(faults, choices.pick(trial.cluster.nodes), choices)
    }
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
    await pause(10_000)
    await faults.kill(choices.pick(cluster.nodes), 5000)
    await pause(20_000)
    const before = await cluster.query("select count(*) from nodes where state = 'dead'")
    await faults.failOver(standby)
    await pause(30_000)
    expect(await cluster.query("select count(*) from nodes where state = 'dead'")).toEqual(before)
    await faults.cutDatabase(choices.pick(cluster.nodes), 5000)
    await pause(10_000)
  })
  report('failover to a standby', seed, figures)
})

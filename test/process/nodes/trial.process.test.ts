// The short form of the trial of several nodes; `npm run test:full` has more faults, devices and callers, and `npm run test:long` runs for longer.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { report } from '../../support/endurance/counts.ts'
import { isFullForm } from '../../support/long-form.ts'
import { durableClusterForTest } from '../../support/nodes/node-cluster.ts'
import { Trial } from '../../support/nodes/trial/trial.ts'

const seed = 15
const fleet = isFullForm ? { rooms: 5, devicesPerRoom: 12 } : { rooms: 2, devicesPerRoom: 3 }
const pauses = isFullForm
  ? { sampleEveryMs: 1000, statusEveryMs: 2000, writeMs: 100, readMs: 50, commandMs: 250 }
  : { sampleEveryMs: 2000, statusEveryMs: 4000, writeMs: 600, readMs: 600, commandMs: 700 }
const options = { ...fleet, ...pauses, seed, followMs: 1500, slackMs: 2000 }
/** Between two faults. */
const calmMs = isFullForm ? 3000 : 1000

test('three nodes with a fleet keep their promises while nodes, sessions and PostgreSQL fail', async () => {
  const trial = new Trial(await durableClusterForTest(3), options)
  const [first, second, third] = trial.cluster.nodes
  if (!first || !second || !third) throw new Error('three nodes were asked for')
  const figures = await trial.run(async (faults) => {
    await pause(calmMs)
    await faults.cutMessages(second, 1000)
    await pause(calmMs)
    await faults.kill(third, 7000)
    await pause(calmMs)
    await faults.restartPostgres('kill', 1000)
    await pause(calmMs)
    await faults.cutDatabase(first, 3000)
    await pause(calmMs)
    // In the short form death.process.test.ts and freeze.process.test.ts are about nodes that freeze.
    if (!isFullForm) return
    // Too short to be declared dead.
    await faults.pause(second, 8000)
    await pause(calmMs)
  })
  report('trial of nodes', seed, figures)
  for (const kind of ['acknowledged writes', 'checked reads', 'samples', 'executions', 'events']) {
    expect(figures[kind], kind).toBeGreaterThan(20)
  }
})

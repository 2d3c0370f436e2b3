// Short forms of the kill -9 cycles and of a network that drops a fleet; `npm run test:long` runs the long ones with the same code.
import { expect, test } from 'vitest'
import { shortCounts } from '../../support/endurance/counts.ts'
import { killCycles } from '../../support/endurance/kill-cycles.ts'
import { networkDrop } from '../../support/endurance/network-drop.ts'
import { engine } from '../../support/harness.ts'
import { isFullForm } from '../../support/long-form.ts'
import { siteForTest } from '../../support/program.ts'

test('kill -9 again and again loses and doubles no acknowledged write, sample or command', async () => {
  const { readyMs, totals } = await killCycles(await siteForTest(), shortCounts)
  expect(readyMs).toHaveLength(shortCounts.kills)
  for (const [kind, acknowledged] of Object.entries(totals)) expect(acknowledged, kind).toBeGreaterThan(0)
})

// Devices and their connections are the same on both databases.
test.runIf(engine === 'sqlite' || isFullForm)(
  'a fleet that loses its network for a moment is connected again within 20 s',
  async () => {
    const { reconnectedAfterMs, cpuWaitMs } = await networkDrop(await siteForTest(), {
      devices: isFullForm ? 60 : 24,
      seed: shortCounts.seed,
    })
    expect(reconnectedAfterMs).toBeLessThan(20_000 + cpuWaitMs)
  },
)

// The memory of a quiet server over two hours; ENDURANCE_QUIET_MINUTES changes how long it is watched.
import { expect, test } from 'vitest'
import { longCountsFrom } from '../../support/endurance/counts.ts'
import { deviceCount, quietServer } from '../../support/endurance/quiet-server.ts'
import { siteForTest } from '../../support/program.ts'

const { seed, quietMinutes } = longCountsFrom(process.env)

test('with 1,000 quiet devices, between the first and the last half hour of two hours, the used heap after a collection grows by less than 3 %, and the memory of the process by less than 5 %', async () => {
  const figures = await quietServer(await siteForTest(), { minutes: quietMinutes, seed })
  expect(figures.connected).toBe(deviceCount)
  expect(figures.heapGrowth).toBeLessThan(1.03)
  expect(figures.memoryGrowth).toBeLessThan(1.05)
}, 10_800_000)

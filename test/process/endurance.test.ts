// The short form of the kill -9 cycles; `npm run test:long` runs the long one with the same code.
import { test } from 'vitest'
import { shortCounts } from '../support/endurance/counts.ts'
import { killCycles } from '../support/endurance/kill-cycles.ts'
import { siteForTest } from '../support/program.ts'

test('kill -9 again and again loses and doubles no acknowledged write, sample or command', async () => {
  await killCycles(await siteForTest(), shortCounts)
}, 120_000)

// The short form of the kill -9 cycles; `npm run test:long` runs the long one with the same code.
import { expect, test } from 'vitest'
import { shortCounts } from '../support/endurance/counts.ts'
import { killCycles } from '../support/endurance/kill-cycles.ts'
import { siteForTest } from '../support/program.ts'

test('kill -9 again and again loses and doubles no acknowledged write, sample or command', async () => {
  const { readyMs, totals } = await killCycles(await siteForTest(), shortCounts)
  expect(readyMs).toHaveLength(shortCounts.kills)
  for (const [kind, acknowledged] of Object.entries(totals)) expect(acknowledged, kind).toBeGreaterThan(0)
}, 120_000)

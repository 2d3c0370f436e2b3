// The short form of the kills in the middle of jobs; `npm run test:long` runs the long one with the same code.
import { expect, test } from 'vitest'
import { shortCounts } from '../../support/endurance/counts.ts'
import { jobKills } from '../../support/endurance/job-kills.ts'
import { siteForTest } from '../../support/program.ts'

test('kill -9 in the middle of jobs changes no endpoint twice, forgets none, and lets units only go forward [contract 12.states]', async () => {
  expect(await jobKills(await siteForTest(), shortCounts)).toBeGreaterThan(0)
}, 240_000)

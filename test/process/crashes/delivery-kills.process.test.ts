// The short form of the kills between commit and delivery; `npm run test:long` runs the long one with the same code.
import { expect, test } from 'vitest'
import { shortCounts } from '../../support/endurance/counts.ts'
import { deliveryKills } from '../../support/endurance/delivery-kills.ts'
import { siteForTest } from '../../support/program.ts'

test('kill -9 between commit and delivery loses no message, and leaves no gap [contract 10.delivery]', async () => {
  expect(await deliveryKills(await siteForTest(), shortCounts)).toBeGreaterThan(0)
})

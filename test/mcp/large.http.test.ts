// Tools on an organisation with thousands of rooms: others wait only briefly for their turn. [contract 17.mcp]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness } from '../support/harness.ts'
import { LargeFleet } from '../support/jobs/large-fleet.ts'
import { cpuLimitMs, runCount } from '../support/long-form.ts'
import { shortestOfLongestTurns } from '../support/longest-turn.ts'
import { connectOfficial, type ToolClient } from '../support/mcp/tool-client.ts'

const rooms = runCount({ short: 3000, full: 10_000, long: 10_000 })
let harness: Harness
let client: ToolClient
beforeAll(async () => {
  harness = await startHarness()
  const fleet = await LargeFleet.make(harness, { rooms, devicesPerRoom: 2, locations: 100 })
  client = await connectOfficial(harness.url, await fleet.org.newKey({ scopes: ['read'] }))
})
afterAll(async () => {
  await client.close()
  await harness.close()
})

test.each(['overview', 'find_rooms', 'find_devices', 'list_places'])(
  '%s takes no long turn of the event loop',
  async (name) => {
    const work = async () => expect((await client.call(name)).isError).toBe(false)
    const shortest = await shortestOfLongestTurns(cpuLimitMs(20), work)
    process.stdout.write(`longest turn of ${name}: ${shortest.toFixed(1)} ms\n`)
    expect(shortest).toBeLessThan(cpuLimitMs(20))
  },
)

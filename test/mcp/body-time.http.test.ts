// Requests that tools make inside the server have no connection, whose time limits would otherwise stop the server later. [contract 17.mcp]
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startHarness } from '../support/harness.ts'
import { connectOfficial } from '../support/mcp/tool-client.ts'
import { shortenLimits } from '../support/short-limits.ts'

test('a server goes on after the body time of what a tool has asked is over', async () => {
  const { limits } = shortenLimits(0.02)
  const uncaught: unknown[] = []
  const note = (error: unknown) => uncaught.push(error)
  const before = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException').on('uncaughtException', note)
  const harness = await startHarness({}, { limits })
  onTestFinished(async () => {
    await harness.close()
    process.removeAllListeners('uncaughtException')
    for (const listener of before) process.on('uncaughtException', listener)
  })
  const org = await harness.newOrg()
  const client = await connectOfficial(harness.url, org.key)
  const { body: room } = await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
  expect((await client.call('add_room_note', { roomId: room.id, note: 'A request with a body.' })).isError).toBe(false)
  await client.close()
  await pause(limits.strangerBodyMs + 200)
  expect(uncaught).toEqual([])
  expect((await harness.call('GET', '/livez')).status).toBe(200)
})

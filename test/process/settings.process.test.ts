// The commands for the settings that all servers of a database share, beside a running server.
import { expect, test } from 'vitest'
import { send } from '../support/harness.ts'
import { expectDone, expectRefusal, siteForTest, until } from '../support/program.ts'

test('settings lists and changes what all servers share, and serve refuses another value [contract 5.4.settings]', async () => {
  const site = await siteForTest()
  const server = await site.serveHere()
  const { key, org, url } = server
  await send(url, 'POST', `/v1/orgs/${org}/rooms`, { key, body: { name: 'Fjord' } })
  const changed = await site.run('settings', 'set', 'room-freshness', '5')
  expectDone(changed)
  expect(changed.stdout).toBe('The setting room-freshness is now 5. Running servers use it within a minute.\n')
  const message = async () => (await send(url, 'GET', `/v1/orgs/${org}/rooms/1/sensor`, { key })).body.message
  await until('the server uses it', async () => (await message()).includes('no sample of the last 5 minutes'))
  await server.stop()
  const list = await site.run('settings')
  expectDone(list)
  expect(list.stdout).toMatch(/^room-freshness {6}5$/m)
  const refused = await site.run('serve', '--port', '0', '--room-freshness', '15')
  expectRefusal(refused, /--room-freshness 15 differs from 5.*"roomkeeper settings set room-freshness 15"\.$/m)
})

// Tests that followers learn of a change by a command on SQLite, where commands cannot send messages. [contract D.44]
import { expect, test } from 'vitest'
import { makeClient } from '../../src/client/client.ts'
import { follow } from '../support/event-follower.ts'
import { engine } from '../support/harness.ts'
import { siteForTest } from '../support/program.ts'

test.runIf(engine === 'sqlite')('on SQLite the next change after one by a command is a reset', async () => {
  const site = await siteForTest()
  const server = await site.serve()
  const admin = makeClient({ baseUrl: server.url, org: server.org, token: server.key })
  const reader = await follow(admin)
  expect(await site.run('keys', 'create', '--org', server.org, '--name', 'K', '--scope', 'read')).toMatchObject({
    code: 0,
  })
  await admin.regionsCreate({ body: { name: 'After' } })
  await reader.next('reset')
  await admin.regionsCreate({ body: { name: 'Next' } })
  await reader.next('structure', (e) => e.change?.target?.name === 'Next')
  // On a busy machine the reader still hears of the first key, which the start has made.
  const heard = reader.events.map((e) => e.change?.target?.name ?? e.type).filter((name) => name !== 'First key')
  expect(heard).toEqual(['reset', 'Next'])
})

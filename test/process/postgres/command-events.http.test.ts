// Tests the events of changes that commands make beside the server. [contract D.44]
import { expect, onTestFinished, test } from 'vitest'
import { CommandEvents } from '../../../src/server/events/publisher.ts'
import { commandLineActor } from '../../../src/server/journal/orgs/rules.ts'
import { listPlacesOf } from '../../../src/server/journal/places/store.ts'
import { keysCreate } from '../../../src/server/people/keys/rules.ts'
import { follow } from '../../support/event-follower.ts'
import { startHarness } from '../../support/harness.ts'

test('a command that shares the bus of the server makes the same events as the API, in the order of the audit log', async () => {
  const harness = await startHarness()
  onTestFinished(() => harness.close())
  const org = await harness.newOrg()
  const reader = await follow(org.client)
  const { services } = harness
  const feed = new CommandEvents({
    bus: services.bus,
    clock: services.clock,
    log: { warn: () => {} } as never,
    locate: (key, wanted) => listPlacesOf(services.db.forOrg(key), wanted),
  })
  const command = await commandLineActor({ ...services, feed }, { type: 'CLI', id: 'me', name: 'me' }, org.id)
  await org.client.regionsCreate({ body: { name: 'Before' } })
  await keysCreate(command, { name: 'By a command', scopes: ['read'] })
  await org.client.regionsCreate({ body: { name: 'After' } })
  await feed.close()
  await reader.next('structure', (e) => e.change?.target?.name === 'After')
  expect(reader.events.map((e) => e.change?.target?.name ?? e.type)).toEqual(['Before', 'By a command', 'After'])
})

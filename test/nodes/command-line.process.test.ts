// The command line beside nodes: the list of nodes, messages of commands, and what logs and metrics say about a node.
import { expect, test } from 'vitest'
import { makeClient } from '../../src/client/client.ts'
import { openServices } from '../../src/server/context/open-services.ts'
import { systemClock } from '../../src/server/core/clock.ts'
import { programVersion } from '../../src/server/core/program-files.ts'
import { follow } from '../support/event-follower.ts'
import { send, TestClock } from '../support/harness.ts'
import { nodeGroup } from '../support/nodes/node-group.ts'
import { twoNodes } from '../support/nodes/two-nodes.ts'
import { expectDone, Program, siteForTest, until } from '../support/program.ts'

test('"nodes" lists the servers that are up, and those that ended in the last day', async () => {
  const site = await siteForTest()
  const one = await site.serveNode('rooms-1')
  // A second node needs a public address.
  await (await site.serveHere('--node-name', 'rooms-2', '--public-url', 'http://127.0.0.1:1')).stop()
  const { version } = programVersion()
  const commit = expect.stringMatching(/^[0-9a-f]{12}/)
  const since = expect.stringMatching(/^\d{4}-.*Z$/)
  const ended = { id: 2, name: 'rooms-2', version, commit, state: 'left', since, devices: 0 }
  expect(await site.json('nodes')).toEqual({
    nodes: [{ id: 1, name: 'rooms-1', version, commit, state: 'up', since, devices: 0 }, ended],
  })
  const text = await site.run('nodes')
  expectDone(text)
  expect(text.stdout).toMatch(/^rooms-1 {2}1 {2}\S+ {2}up since \S+Z {2}0 devices\nrooms-2 {2}2 {2}\S+ {2}left since /)
  const metrics = await (await fetch(`${one.url}/metrics`)).text()
  expect(metrics.split('\n')).toContain('roomkeeper_node_info{name="rooms-1",id="1"} 1')
  expect(one.stderr).toMatch(/"nodeName":"rooms-1".*"nodeId":1.*"msg":"ready"/)
  // Another one could declare it dead, but there is none.
  await one.stop('SIGKILL')
  await until('it is silent', async () => (await site.json('nodes')).nodes[0].state === 'silent')
})

test('a gateway beside the server is refused while another server runs on the database', async () => {
  const site = await siteForTest()
  const first = await site.serveNode('rooms-1')
  const flags = ['--port', '0', '--node-name', 'rooms-2', '--public-url', 'http://127.0.0.1:1', '--log-level', 'silent']
  const { code, stderr } = await site.run('serve', ...flags, '--gateway', `${first.org}/1`)
  expect(code).toBe(1)
  expect(stderr).toContain('Start the gateway by itself with "roomkeeper gateway" instead of --gateway.')
})

test('a command sends messages to the nodes before it ends', async () => {
  const group = await nodeGroup()
  const node = await group.start()
  const heard: unknown[] = []
  node.services.bus.heard('wake', (body, from) => void heard.push([body, from]))
  let lost = 0
  node.services.bus.lost(() => lost++)
  const endpointIds = Array.from({ length: 2_000 }, (_, i) => `endpoint-${i}`)
  for (const ids of [['first'], endpointIds]) {
    const options = { dataDir: node.dataDir, databaseUrl: group.databaseUrl }
    const { services, close } = await openServices(
      options,
      { isLocked: false, mustExist: true, onError() {} },
      systemClock,
      async () => [],
    )
    services.bus.send('wake', { endpointIds: ids })
    await close()
  }
  await until('both are heard', () => heard.length === 2)
  const from = { nodeId: undefined, isSelf: false }
  expect(heard).toEqual([
    [{ endpointIds: ['first'] }, from],
    [{ endpointIds }, from],
  ])
  expect(lost).toBe(0)
})

test('a key that a command revokes is refused at a node as soon as its message is heard, and the event is in the stream of another', async () => {
  // The clock of this node stands still, so that the key would stay in its cache without the message.
  const stopped = new TestClock()
  stopped.fix(Date.now())
  const { a, b, call, org, databaseUrl } = await twoNodes({ b: stopped })
  const newKey = async (name: string) => (await call(a, 'POST', '/keys', { body: { name, scopes: ['read'] } })).body
  const [reader, revoked] = [await newKey('Reader'), await newKey('Revoked')]
  const follower = await follow(makeClient({ baseUrl: a.url, org: org.id, token: reader.key }))
  const statusAtB = async (key: string) => (await send(b.url, 'GET', `/v1/orgs/${org.id}/regions`, { key })).status
  expect([await statusAtB(reader.key), await statusAtB(revoked.key)]).toEqual([200, 200])
  const heard: unknown[] = []
  b.services.bus.heard('keysChanged', (_, from) => void heard.push(from))

  const place = ['--data-dir', b.dataDir, '--database-url', databaseUrl]
  const command = new Program(['keys', 'revoke', revoked.id, '--org', org.id, ...place], { cwd: b.dataDir })
  expectDone(await command.exit())
  await until('the message is heard', () => heard.length > 0)
  expect(heard).toEqual([{ nodeId: undefined, isSelf: false }])
  expect([await statusAtB(reader.key), await statusAtB(revoked.key)]).toEqual([200, 401])
  const { change } = await follower.next('structure', (event) => event.change?.target?.name === 'Revoked')
  expect(change).toMatchObject({ type: 'API_KEY_REVOKED', target: { type: 'key', id: revoked.id } })
  expect(follower.of('reset')).toEqual([])
})

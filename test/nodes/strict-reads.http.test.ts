// Two real nodes with real messages: a read at one of them sees what the other acknowledged, and a revoked key is refused at once.
import { beforeEach, expect, test } from 'vitest'
import { findOrg } from '../../src/server/journal/orgs/store.ts'
import { putEndpoints } from '../support/database/endpoint-rows.ts'
import { send, TestClock } from '../support/harness.ts'
import { type GroupNode, nodeGroup } from '../support/nodes/node-group.ts'
import { until } from '../support/program.ts'

let nodes: readonly GroupNode[]
let clock: TestClock
let org: { readonly key: number; readonly id: string }
let apiKey: string
let endpointIds: readonly string[]
beforeEach(async () => {
  const group = await nodeGroup()
  clock = new TestClock()
  const first = await group.start({}, clock)
  nodes = [first, await group.start({ publicUrl: first.publicUrl }, clock)]
  org = (await findOrg(first.services.db.system, { id: first.first?.org as string })) as typeof org
  apiKey = first.first?.key as string
  for (const name of ['Fjord', 'Fuji']) expect((await call(0, 'POST', '/rooms', { name })).status).toBe(200)
  endpointIds = (await putEndpoints(first, { org }, Array(50).fill({ room_id: 1 }))).map(({ id }) => id)
})

const call = (node: number, method: string, path: string, body?: object, key = apiKey) =>
  send((nodes[node] as GroupNode).url, method, `/v1/orgs/${org.id}${path}`, { key, body })

test('each write at one node is in the next read at the other [contract 7.14]', { timeout: 60_000 }, async () => {
  const id = endpointIds[0] as string
  for (let n = 0; n < 20; n++) {
    const [writer, reader] = n % 2 === 0 ? [0, 1] : [1, 0]
    const name = `Room ${n}`
    expect((await call(writer, 'PUT', '/rooms/1', { name })).status).toBe(200)
    const [one, list] = await Promise.all([call(reader, 'GET', `/endpoints/${id}`), call(reader, 'GET', '/endpoints')])
    expect(one.body.roomName).toBe(name)
    expect(new Set(list.body.endpoints.map((e: { roomName: string }) => e.roomName))).toEqual(new Set([name]))
  }
  await call(0, 'POST', '/endpoints/move_paired', { endpointIds: [id], roomId: 2 })
  expect((await call(1, 'GET', '/rooms/sensor')).status).toBe(200)
  expect((await call(1, 'GET', `/endpoints/${id}`)).body.roomName).toBe('Fuji')
  await call(1, 'DELETE', `/endpoints/${id}`)
  expect((await call(0, 'GET', `/endpoints/${id}`)).status).toBe(404)
  expect((await call(0, 'GET', '/endpoints')).body.endpoints).toHaveLength(49)
})

test('a key that one node revoked is refused by the other before its cache expires [contract 3.10]', async () => {
  const { body } = await call(0, 'POST', '/keys', { name: 'Wall display', scopes: ['read'] })
  // Without the message, the other node would trust the key for half a second after its last look-up: forever while the clock stands.
  clock.fix()
  for (let n = 0; n < 5; n++) {
    expect((await call(1, 'GET', '/rooms', undefined, body.key)).status).toBe(200)
  }
  await call(0, 'DELETE', `/keys/${body.id}`)
  await until(
    'the other node refuses it',
    async () => (await call(1, 'GET', '/rooms', undefined, body.key)).status === 401,
  )
})

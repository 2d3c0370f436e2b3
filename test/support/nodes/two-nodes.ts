// Two nodes of one PostgreSQL with an organisation, a room and devices that can connect to either.
import { onTestFinished } from 'vitest'
import type { StartSettings } from '../../../src/server/app.ts'
import type { Clock } from '../../../src/server/core/clock.ts'
import { commandLineActor, orgCreate } from '../../../src/server/journal/orgs/rules.ts'
import { keysCreate } from '../../../src/server/people/keys/rules.ts'
import { newDevice, type TestDevice } from '../devices/test-device.ts'
import { type Call, type Reply, send, type TestOrg } from '../harness.ts'
import { type AtEnd, type GroupNode, type NodeGroup, nodeGroup } from './node-group.ts'

export interface TwoNodes {
  /** Starts a further node. */
  readonly start: NodeGroup['start']
  readonly a: GroupNode
  readonly b: GroupNode
  readonly databaseUrl: string
  readonly org: TestOrg['org']
  /** Calls a path of the organisation at a node. */
  call(node: GroupNode, method: string, path: string, call?: Call): Promise<Reply>
  /** Enrols a device, and connects it to a node. */
  device(node: GroupNode): Promise<TestDevice>
}

const actor = { type: 'SYSTEM', id: 'test', name: 'Test' } as const

export async function twoNodes(
  clocks: { readonly a?: Clock; readonly b?: Clock } = {},
  options: Pick<StartSettings, 'taskPauseShare' | 'limits'> = {},
  atEnd?: AtEnd,
): Promise<TwoNodes> {
  const group = await nodeGroup(atEnd)
  const [a, b] = [await group.start(options, clocks.a), await group.start(options, clocks.b)]
  const org = await orgCreate(a.services, actor, 'Test organisation')
  const ctx = await commandLineActor(a.services, actor, org.id)
  const { key } = (await keysCreate(ctx, { name: 'Test key', scopes: ['read', 'write'], manage: true })).body
  const call = (node: GroupNode, method: string, path: string, given: Call = {}) =>
    send(node.url, method, `/v1/orgs/${org.id}${path}`, { key, ...given })
  const roomId = (await call(a, 'POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  return {
    start: group.start,
    a,
    b,
    databaseUrl: group.databaseUrl,
    org,
    call,
    async device(node) {
      const host = {
        mqttPort: node.mqttPort ?? 0,
        call: (method: string, path: string, given?: Call) => send(node.url, method, path, given),
      }
      const caller = { call: (method: string, path: string) => call(node, method, path) } as TestOrg
      const device = await newDevice(host, caller, { roomId })
      onTestFinished(() => device.close())
      return device
    },
  }
}

export const mqttUrlOf = ({ mqttPort }: GroupNode): string => `mqtt://127.0.0.1:${mqttPort}`

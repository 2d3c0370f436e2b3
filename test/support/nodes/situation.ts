// Rooms and devices in a cluster, and times that are measured, for the tests of bad situations.
import { expect, onTestFinished } from 'vitest'
import { devicePaths, type EnrolAnswer } from '../../../src/contract/device/protocol.ts'
import { TestDevice } from '../devices/test-device.ts'
import { type Call, type Reply, send } from '../harness.ts'
import { until } from '../program.ts'
import type { NodeCluster } from './node-cluster.ts'
import type { ServerNode } from './server-node.ts'

const bar = 'NF19B1'
/** A model that does not measure people: a room with only such devices counts as idle. */
export const padModel = 'NF19A1'
let serials = 0

/** Calls a path of the cluster's organisation at one node. */
export const callAt = (cluster: NodeCluster, node: ServerNode, method: string, path: string, call: Call = {}) =>
  send(node.url, method, `/v1/orgs/${cluster.org}${path}`, { key: cluster.key, ...call })

export interface TimedReply extends Reply {
  readonly ms: number
}

export async function timed(ask: () => Promise<Reply>): Promise<TimedReply> {
  const begun = performance.now()
  return { ...(await ask()), ms: performance.now() - begun }
}

export async function newRoom(cluster: NodeCluster, node: ServerNode, name = 'Fjord'): Promise<Reply['body']> {
  const reply = await callAt(cluster, node, 'POST', '/rooms', { body: { name } })
  expect(reply.status, reply.text).toBe(200)
  return reply.body
}

export interface EnrolledDevice {
  readonly serial: string
  readonly model: string
  readonly answer: EnrolAnswer
}

export async function enrolAt(node: ServerNode, code: string, model = bar): Promise<EnrolledDevice> {
  const serial = `SITUATION-${++serials}`
  const reply = await send(node.url, 'POST', devicePaths.enrol, { body: { code, serial, model } })
  expect(reply.status, reply.text).toBe(200)
  return { serial, model, answer: reply.body }
}

export const deviceAt = (node: ServerNode, { serial, model, answer }: EnrolledDevice): TestDevice =>
  new TestDevice(node.mqttPort, serial, model, answer)

/** A connection of an enrolled device to a node. It does not come back by itself when it is lost. */
export async function connectTo(node: ServerNode, enrolled: EnrolledDevice): Promise<TestDevice> {
  const device = deviceAt(node, enrolled)
  await device.connect()
  // A frozen node would not answer a DISCONNECT.
  onTestFinished(() => void device.client.end(true))
  return device
}

/** Enrols new devices in a new room and connects each of them to the node. */
export async function newDevicesAt(cluster: NodeCluster, node: ServerNode, count: number): Promise<TestDevice[]> {
  const { dec } = await newRoom(cluster, node)
  const devices: TestDevice[] = []
  for (let i = 0; i < count; i++) devices.push(await connectTo(node, await enrolAt(node, dec)))
  return devices
}

/** The ids of the endpoints that a node reports as connected. */
export async function connectedAt(cluster: NodeCluster, node: ServerNode): Promise<Set<string>> {
  const { status, text, body } = await callAt(cluster, node, 'GET', '/endpoints')
  expect(status, text).toBe(200)
  const endpoints: { id: string; connected: boolean }[] = body.endpoints
  return new Set(endpoints.filter(({ connected }) => connected).map(({ id }) => id))
}

/** Waits until no device of the list is reported as connected, and returns how long that took from `since` on. */
export async function untilOffline(
  cluster: NodeCluster,
  node: ServerNode,
  devices: readonly TestDevice[],
  since: number,
): Promise<number> {
  await until(
    'the devices are offline',
    async () => {
      const connected = await connectedAt(cluster, node)
      return devices.every(({ id }) => !connected.has(id))
    },
    { everyMs: 100, timeoutMs: 30_000 },
  )
  return performance.now() - since
}

export const isConnectionOpen = (device: TestDevice): boolean => !device.client.stream.destroyed

/** The rows of the table of nodes in a state. */
export async function countNodes(cluster: NodeCluster, state: 'up' | 'left' | 'dead'): Promise<number> {
  const [row] = await cluster.query('select count(*) from nodes where state = $1', [state])
  return Number(row?.count)
}

export async function untilReady(nodes: readonly ServerNode[]): Promise<void> {
  for (const { name, url } of nodes) {
    await until(`${name} is ready`, async () => (await send(url, 'GET', '/readyz')).status === 200)
  }
}

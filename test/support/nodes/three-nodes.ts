// Three nodes on one database, an organisation with endpoints, and the reads and writes that tests of caches need.

import type { ReadyAnswer } from '../../../src/server/context/answers.ts'
import { writeTelemetry } from '../../../src/server/db/queries/query.ts'
import { roomsUpdate } from '../../../src/server/fleet/rooms/rules.ts'
import { putEndpoints } from '../database/endpoint-rows.ts'
import { type Harness, startHarness, type TestOrg } from '../harness.ts'
import { type CacheNode, startCacheNode } from './cache-node.ts'
import { UnreliableBus } from './unreliable-bus.ts'

export const endpointCount = 6

export const updateStatusText = writeTelemetry((db, p: { org: number; id: string; status: string }) =>
  db.updateTable('endpoints').set({ status: p.status }).where('org', '=', p.org).where('id', '=', p.id),
)

/** The body of an answer, as the object that a client gets. */
export const show = ({ body }: ReadyAnswer) => JSON.parse([body].flat().join(''))

export class ThreeNodes {
  readonly harness: Harness
  readonly nodes: readonly CacheNode[]
  readonly bus: UnreliableBus
  org!: TestOrg
  ids: readonly string[] = []

  private constructor(harness: Harness, nodes: readonly CacheNode[], bus: UnreliableBus) {
    this.harness = harness
    this.nodes = nodes
    this.bus = bus
  }

  static async start(): Promise<ThreeNodes> {
    // The node of the harness is not on this bus. A commit of its scheduled tasks would empty the caches, as one whose message was lost.
    const harness = await startHarness({}, { taskPauseShare: 500 })
    const bus = new UnreliableBus()
    const nodes: CacheNode[] = []
    for (let n = 0; n < 3; n++) nodes.push(await startCacheNode(harness, bus))
    return new ThreeNodes(harness, nodes, bus)
  }

  /** Makes an organisation with two rooms, and endpoints in the first. The values that tests write are numbers, and begin with 0. */
  async newOrg(): Promise<void> {
    this.org = await this.harness.newOrg()
    for (const name of ['0', 'Cellar']) await this.org.call('POST', '/rooms', { body: { name } })
    const values = Array(endpointCount).fill({ room_id: 1, status: '{"firmwareVersion":"0"}' })
    this.ids = (await putEndpoints(this.harness, this.org, values)).map(({ id }) => id)
  }

  get = async (node: CacheNode, id: string): Promise<ReadyAnswer> =>
    (await node.endpoints.find(this.org.org.key, id)) as ReadyAnswer

  list = async (node: CacheNode) => show(await node.endpoints.list(this.org.org.key)).endpoints

  /** An audited write, to the room that all endpoints show. */
  rename = async (node: CacheNode, name: string) => roomsUpdate(await node.actIn(this.org), 1, { name })

  /** An unaudited write. */
  report = ({ services }: CacheNode, id: string, firmwareVersion: string) =>
    services.db
      .forOrg(this.org.org.key)
      .telemetry((tx) => updateStatusText(tx, { id, status: JSON.stringify({ firmwareVersion }) }))

  async close(): Promise<void> {
    for (const node of this.nodes) await node.close()
    await this.harness.close()
  }
}

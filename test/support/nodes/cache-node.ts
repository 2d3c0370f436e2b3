// A node that consists of its row, its database connections and its caches: enough to read and write as a server does.
import type { RequestContext } from '../../../src/server/context/request-context.ts'
import type { Services } from '../../../src/server/context/services.ts'
import { openDatabase } from '../../../src/server/db/open.ts'
import { EndpointCache } from '../../../src/server/fleet/endpoints/endpoint-cache.ts'
import { commandLineActor } from '../../../src/server/journal/orgs/rules.ts'
import { NodeFence } from '../../../src/server/nodes/node-fence.ts'
import { insertNode, updateLeft } from '../../../src/server/nodes/store.ts'
import { StrictReads } from '../../../src/server/nodes/strict-reads/strict-reads.ts'
import { ThisNode } from '../../../src/server/nodes/this-node.ts'
import { LatestSampleCache } from '../../../src/server/sensors/latest/cache.ts'
import type { Harness, TestOrg } from '../harness.ts'
import type { UnreliableBus } from './unreliable-bus.ts'

export interface CacheNode {
  readonly id: number
  readonly bus: ReturnType<UnreliableBus['join']>
  readonly services: Services
  readonly endpoints: EndpointCache
  readonly latest: LatestSampleCache
  /** Acts in an organisation through this node. */
  actIn(org: TestOrg): Promise<RequestContext>
  close(): Promise<void>
}

export async function startCacheNode(harness: Harness, shared: UnreliableBus): Promise<CacheNode> {
  const { db } = await openDatabase(harness.place, { isLocked: true, mustExist: true, onError() {} })
  const { clock } = harness.services
  const { id } = (await db.systemTransaction((on) =>
    insertNode(on, { name: 'test', process: 'test', version: '0', at: clock.now() }),
  )) as { id: number }
  // Without a beat, the node of the harness would declare this one dead.
  const raiseBeat = () =>
    db.schema
      .updateTable('nodes')
      .set((e) => ({ beats: e('beats', '+', 1) }))
      .where('id', '=', id)
      .execute()
  const beating = setInterval(() => void raiseBeat().catch(() => {}), 1000)
  db.fence = new NodeFence(db, new ThisNode('test', id), () => {})
  const bus = shared.join(id)
  const services = { ...harness.services, db, bus, reads: new StrictReads(db, bus) }
  return {
    id,
    bus,
    services,
    endpoints: new EndpointCache(services),
    latest: new LatestSampleCache(services),
    actIn: ({ id }) => commandLineActor(services, { type: 'SYSTEM', id: 'test', name: 'Test' }, id),
    async close() {
      clearInterval(beating)
      db.fence = undefined
      await db.systemTransaction((on) => updateLeft(on, { id, at: clock.now() }))
      await db.close()
    },
  }
}

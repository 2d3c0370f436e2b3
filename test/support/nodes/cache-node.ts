// A node that consists of its row, its database connections and its caches: enough to read and write as a server does.
import type { RequestContext } from '../../../src/server/context/request-context.ts'
import type { Services } from '../../../src/server/context/services.ts'
import { openDatabase } from '../../../src/server/db/open.ts'
import type { SystemTx } from '../../../src/server/db/system.ts'
import { NodeFence } from '../../../src/server/nodes/commit-fence.ts'
import { insertNode, lockStarts, updateLeft } from '../../../src/server/nodes/store.ts'
import { StrictReads } from '../../../src/server/nodes/strict-reads/strict-reads.ts'
import { EndpointCache } from '../../../src/server/resources/endpoints/endpoint-cache.ts'
import { commandLineActor } from '../../../src/server/resources/orgs/rules.ts'
import { LatestSamples } from '../../../src/server/resources/sensors/latest/cache.ts'
import type { Harness, TestOrg } from '../harness.ts'
import type { SharedTestBus } from './shared-bus.ts'

export interface CacheNode {
  readonly id: number
  readonly bus: ReturnType<SharedTestBus['join']>
  readonly services: Services
  readonly endpoints: EndpointCache
  readonly latest: LatestSamples
  /** Acts in an organisation through this node. */
  actIn(org: TestOrg): Promise<RequestContext>
  close(): Promise<void>
}

export async function startCacheNode(harness: Harness, shared: SharedTestBus): Promise<CacheNode> {
  const { db } = await openDatabase(harness.place, { isLocked: true, mustExist: true, onError() {} })
  const { clock } = harness.services
  const insert = async (on: SystemTx) => {
    await lockStarts(on)
    return insertNode(on, { name: 'test', version: '0', at: clock.now() })
  }
  const { id } = (await db.systemTransaction(insert)) as { id: number }
  db.fence = new NodeFence(() => id)
  const bus = shared.join(id)
  const services = { ...harness.services, db, bus, reads: new StrictReads(db, bus) }
  return {
    id,
    bus,
    services,
    endpoints: new EndpointCache(services),
    latest: new LatestSamples(services),
    actIn: ({ id }) => commandLineActor(services, { type: 'SYSTEM', id: 'test', name: 'Test' }, id),
    async close() {
      db.fence = undefined
      await db.systemTransaction((on) => updateLeft(on, { id, at: clock.now() }))
      await db.close()
    },
  }
}

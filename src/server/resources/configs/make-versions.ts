// Makes config versions: the one way in which what is desired of an endpoint changes. [contract 5.3.versions]

import type { RequestContext } from '../../context/request-context.ts'
import type { Tx } from '../../db/handles.ts'
import { insertVersions, raiseVersions, supersedeVersions } from './store.ts'

/**
 * A new version for each endpoint, of its keys and its profile as they are now in this transaction. Three statements,
 * however many endpoints. Wake them after the commit.
 */
export async function makeVersions(tx: Tx, ctx: RequestContext, endpointIds: readonly string[]): Promise<void> {
  if (endpointIds.length === 0) return
  const ids = endpointIds
  const now = ctx.clock.now()
  const raised = await raiseVersions(tx, { ids })
  await supersedeVersions(tx, { ids, now })
  await insertVersions(tx, ids, ctx.actor, now)
  for (const { endpoint_id, version } of raised) {
    tx.drafts.push({ type: 'config', endpointId: endpoint_id, config: { version, state: 'PENDING' } })
  }
}

// Makes config versions: the one way in which what is desired of an endpoint changes. [contract 5.3.versions]
import type { By } from '../../context/request-context.ts'
import type { Tx } from '../../db/db.ts'
import { insertVersions, raiseVersions, supersedeVersions } from './store.ts'

/**
 * A new version for each endpoint, of its keys and its profile as they are now in this transaction. Three statements,
 * however many endpoints. Wake them after the commit.
 */
export async function makeVersions(tx: Tx, by: By, endpointIds: readonly string[]): Promise<void> {
  if (endpointIds.length === 0) return
  const ids = JSON.stringify(endpointIds)
  const now = by.ground.clock.now()
  const raised = await raiseVersions(tx, by.org.key, ids)
  await supersedeVersions(tx, by.org.key, ids, now)
  await insertVersions(tx, by.org.key, ids, by.actor, now)
  for (const { endpoint_id, version } of raised) {
    tx.announced.push({ type: 'config', endpointId: endpoint_id, config: { version, state: 'PENDING' } })
  }
}

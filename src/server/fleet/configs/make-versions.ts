// Makes config versions; every change of a desired config goes through here. [contract 5.3.versions]

import type { RequestContext } from '../../context/request-context.ts'
import type { Tx } from '../../db/handles.ts'
import { insertVersions, raiseVersions, supersedeVersions } from './store.ts'

/** The job that makes versions, if one does. A rollback looks for its versions. [contract 12.rollback] */
export interface VersionOrigin {
  readonly jobId?: number | undefined
}

/**
 * Makes a version for each endpoint, from its keys and its profile as this transaction sees them. The number of statements
 * does not depend on the number of endpoints. The caller wakes the devices after the commit.
 */
export async function makeVersions(
  tx: Tx,
  ctx: RequestContext,
  ids: readonly string[],
  { jobId }: VersionOrigin = {},
): Promise<void> {
  if (ids.length === 0) return
  const now = ctx.clock.now()
  const raised = await raiseVersions(tx, { ids })
  await supersedeVersions(tx, { ids, now })
  await insertVersions(tx, ids, { ...ctx.actor, jobId }, now)
  for (const { endpoint_id, version } of raised) {
    tx.drafts.push({ type: 'config', endpointId: endpoint_id, config: { version, state: 'PENDING' } })
  }
}

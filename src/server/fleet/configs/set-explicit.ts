// Sets the keys of one endpoint and makes the version of them, for the operations on configs and for jobs. [contract 5.3.versions]

import type { RequestContext } from '../../context/request-context.ts'
import { mustFind } from '../../core/failure.ts'
import type { OrgReader, Tx } from '../../db/handles.ts'
import type { ChangeResult } from '../../journal/audit/change-result.ts'
import { endpointRef } from '../endpoints/fields.ts'
import { explicitLayer } from './effective.ts'
import { makeVersions, type VersionOrigin } from './make-versions.ts'
import { differences, type SealedConfig } from './sealed-config.ts'
import { type EndpointConfigRow, findConfig, updateExplicit } from './store.ts'

export const requireConfig = async (on: OrgReader, id: string) =>
  mustFind(await findConfig(on, { id }), `endpoint ${id}`)

/** Makes a version even if no key changes. The result is the new config. The caller wakes the device after the commit. */
export async function setExplicit(
  tx: Tx,
  ctx: RequestContext,
  row: EndpointConfigRow,
  to: SealedConfig,
  origin: VersionOrigin = {},
): Promise<ChangeResult<EndpointConfigRow>> {
  const changes = Object.entries(differences(explicitLayer(row), to))
  await updateExplicit(tx, { id: row.id, explicit: to.config, secrets: to.secrets })
  await makeVersions(tx, ctx, [row.id], origin)
  const side = (which: 'before' | 'after') =>
    Object.fromEntries(changes.flatMap(([name, d]) => (d[which] === undefined ? [] : [[name, d[which]]])))
  return {
    result: await requireConfig(tx, row.id),
    target: endpointRef(row),
    before: side('before'),
    after: side('after'),
    jobId: origin.jobId,
  }
}

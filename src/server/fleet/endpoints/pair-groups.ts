// Reads the pair groups of endpoints for writes that concern whole groups. [contract 5.1.pairing]
import { Failure } from '../../core/failure.ts'
import type { OrgReader } from '../../db/handles.ts'
import { listEndpointsById, listPairedEndpoints, type PairedEndpoint } from './store.ts'

/** Returns these endpoints and all others in their groups. Refuses if the caller does not see some of them. [contract 11.access] */
export async function requireVisibleGroups(on: OrgReader, ids: readonly string[]): Promise<PairedEndpoint[]> {
  const group = await listPairedEndpoints(on, { ids })
  if (on.access.isEverything) return group
  const visible = await listEndpointsById(on, { ids: group.map((e) => e.id) })
  const hidden = group.length - visible.length
  if (hidden === 0) return group
  const hiddenText = hidden === 1 ? '1 paired endpoint is' : `${hidden} paired endpoints are`
  throw new Failure(
    'FAILED_PRECONDITION',
    `${hiddenText} outside the regions that you see, so nothing was done. Ask a person who sees all of these regions.`,
  )
}

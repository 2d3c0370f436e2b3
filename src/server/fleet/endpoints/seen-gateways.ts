// Hides gateways from callers who see a device, but not the gateway through which it is seen. [contract 8.via]
import type { OrgReader } from '../../db/handles.ts'
import { listEndpointsById } from './store.ts'

/** Returns the rows without the gateways that the caller does not see. */
export async function withSeenGateways<R extends { readonly via: string | null }>(
  on: OrgReader,
  rows: readonly R[],
): Promise<readonly (R & { readonly isViaHidden?: boolean })[]> {
  const ids = on.access.isEverything ? [] : [...new Set(rows.flatMap(({ via }) => via ?? []))]
  if (ids.length === 0) return rows
  const seen = new Set((await listEndpointsById(on, { ids })).map(({ id }) => id))
  return rows.map((row) => (row.via === null || seen.has(row.via) ? row : { ...row, via: null, isViaHidden: true }))
}

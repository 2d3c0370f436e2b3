// Checks the regions that a request gives to a user or a key.
import { invalid } from '../../core/failure.ts'
import type { OrgReader } from '../../db/handles.ts'
import { listRegions } from './store.ts'

/** Returns the ids sorted and without duplicates. The failure names every id that does not exist. [contract 2.2] */
export async function requireRegions(on: OrgReader, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return []
  const known = new Set((await listRegions(on)).map((r) => r.id))
  const unknown = ids.flatMap((id, i) =>
    known.has(id) ? [] : [{ field: `regionIds[${i}]`, error: `names region ${id}, which does not exist` }],
  )
  if (unknown.length > 0) throw invalid(unknown)
  return [...new Set(ids)].sort((a, b) => a - b)
}

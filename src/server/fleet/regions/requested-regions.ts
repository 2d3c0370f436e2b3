// Checks the regions that a request gives to users and keys.
import type { Violation } from '../../../contract/error.ts'
import { invalid } from '../../core/failure.ts'
import type { OrgReader } from '../../db/handles.ts'
import { listRegions } from './store.ts'

/** Returns the ids sorted and without duplicates. The failure names every id that does not exist. [contract 2.2] */
export async function requireRegions(on: OrgReader, ids: readonly number[]): Promise<number[]> {
  const unknown = await unknownRegions(on, [['regionIds', ids]])
  if (unknown.length > 0) throw invalid(unknown)
  return [...new Set(ids)].sort((a, b) => a - b)
}

/** Returns a violation for each id that does not exist, in lists with these names. */
export async function unknownRegions(
  on: OrgReader,
  lists: readonly (readonly [field: string, ids: readonly number[]])[],
): Promise<Violation[]> {
  if (lists.every(([, ids]) => ids.length === 0)) return []
  const known = new Set((await listRegions(on)).map(({ id }) => id))
  return lists.flatMap(([field, ids]) =>
    ids.flatMap((id, i) =>
      known.has(id) ? [] : [{ field: `${field}[${i}]`, error: `names region ${id}, which does not exist` }],
    ),
  )
}

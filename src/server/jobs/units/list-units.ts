// Lists units of a job in their own order, or with those first that a person should look at. [contract 12.rooms]
import type { UnitState } from '../../../contract/jobs/job-states.ts'
import { includesAll, normalizeText } from '../../../contract/search-text.ts'
import type { PagePosition } from '../../core/page-token.ts'
import type { OrgReader } from '../../db/handles.ts'
import { listVisibleUnits, type UnitFilter } from './unit-store.ts'

/** Units that are listed together, in their own order. */
interface UnitGroup {
  readonly states: readonly UnitState[]
  readonly filters: readonly UnitFilter[]
}

/** After the units that are marked as failed. A node of version 0.2.0 beside this one leaves FAILED units without the mark. */
const statesByAttention = [
  'FAILED',
  'WAITING',
  'EXPIRED',
  'KEPT',
  'RUNNING',
  'SOAKING',
  'PENDING',
  'CANCELLED',
  'SKIPPED',
  'ROLLED_BACK',
  'SUCCEEDED',
] as const satisfies UnitState[]

interface UnitOrder {
  readonly failed?: boolean | undefined
  readonly order?: 'number' | 'attention' | undefined
}

export function unitGroups(states: readonly UnitState[], { failed, order }: UnitOrder): readonly UnitGroup[] {
  const isFailed: UnitGroup = { states, filters: ['failed'] }
  if (failed === true) return [isFailed]
  if (order !== 'attention') return [{ states, filters: failed === false ? ['notFailed'] : [] }]
  const others = statesByAttention
    .filter((state) => states.includes(state))
    .map((state): UnitGroup => ({ states: [state], filters: ['notFailed'] }))
  return failed === false ? others : [isFailed, ...others]
}

interface UnitList {
  readonly groups: readonly UnitGroup[]
  readonly page: Omit<Parameters<typeof listVisibleUnits>[1], 'states' | 'after' | 'limit'>
  /** Words that the name of a unit must contain. */
  readonly words: readonly string[]
  readonly limit: number
}

/** A search reads this many units with each statement. */
const searchedRows = 1000

type Unit = Awaited<ReturnType<typeof listVisibleUnits>>[number]
interface ListedUnit {
  readonly row: Unit
  /** `timestamp` is the index of its group. */
  readonly position: PagePosition
}

/** Lists the units after a position. */
export async function listUnitsFrom(
  on: OrgReader,
  { groups, page, words, limit }: UnitList,
  from: PagePosition,
): Promise<readonly ListedUnit[]> {
  const found: ListedUnit[] = []
  for (const [index, { states, filters }] of groups.entries()) {
    if (index < from.timestamp) continue
    let after = index === from.timestamp ? from.seq : 0
    while (found.length < limit) {
      const rowLimit = words.length > 0 ? searchedRows : limit - found.length
      const rows = await listVisibleUnits(on, { ...page, states, after, limit: rowLimit }, filters)
      for (const row of rows) {
        if (!includesAll(normalizeText(row.name), words)) continue
        found.push({ row, position: { timestamp: index, seq: row.number } })
      }
      if (rows.length < rowLimit) break
      after = rows.at(-1)?.number ?? after
    }
  }
  return found.slice(0, limit)
}

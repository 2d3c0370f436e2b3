// Decides how much of an audit entry a caller sees. [contract 11.access]
import { type ChangeRegions, seesChange, seesTarget, seesWholeChange } from '../../core/change-regions.ts'
import type { RegionAccess } from '../../core/region-access.ts'
import type { EntryRow } from './store.ts'

type HiddenColumn = 'target_type' | 'target_id' | 'target_name' | 'details'

/** An entry as one caller sees it. Details and target are null where they are not visible. */
export type VisibleEntry = Omit<EntryRow, HiddenColumn> & { readonly [C in HiddenColumn]: string | null }

/** Returns undefined for an entry that the caller does not see. */
export function entrySeenBy(access: RegionAccess, row: EntryRow): VisibleEntry | undefined {
  if (access.isEverything) return row
  // An entry of version 0.1 does not say which places it names.
  if (row.regions === null) return undefined
  const regions: ChangeRegions = JSON.parse(row.regions)
  if (!seesChange(access, regions)) return undefined
  if (seesWholeChange(access, regions)) return row
  if (seesTarget(access, row.target_type, regions)) return { ...row, details: null }
  return {
    ...row,
    details: null,
    target_type: null,
    target_id: null,
    target_name: null,
    // A device acts under its serial, which names it as much as the target does.
    ...(row.actor_type === 'DEVICE' && { actor_id: '', actor_name: '' }),
  }
}

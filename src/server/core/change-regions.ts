// The regions that a change concerns, and how much of the change a caller that is limited to regions sees. [contract 11.access]
import type { RegionAccess } from './region-access.ts'

export interface ChangeRegions {
  /** The regions of everything that the change names, before and after it. Null stands for things that are in no region. */
  readonly all: readonly (number | null)[]
  /** The regions of the target after the change; those before it, if the change deleted the target. */
  readonly target: readonly number[]
}

/** A change without a place is seen only by callers who see everything. */
export const seesChange = (access: RegionAccess, { all }: Pick<ChangeRegions, 'all'>): boolean => access.seesAny(all)

export const seesWholeChange = (access: RegionAccess, { all }: Pick<ChangeRegions, 'all'>): boolean =>
  access.seesAll(all)

/** Profiles are in no place, and every caller may read them. */
export const seesTarget = (access: RegionAccess, type: string, { target }: Pick<ChangeRegions, 'target'>): boolean =>
  type === 'profile' || access.seesAny(target)

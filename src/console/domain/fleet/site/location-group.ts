// The groups of a list by location.
import { noGroup, type RowGroup } from '../../../parts/table/table-items.ts'

/** The value of the parameter `group` in the address of a list. */
export const byLocation = 'location'

interface Placed {
  readonly location?: { readonly id: number; readonly name: string } | undefined
}

/** Undefined if the address names no way to group, or an unknown one. */
export const groupingOf = (group: string | undefined) => (group === byLocation ? locationGroup : undefined)

const locationGroup = ({ location }: Placed): RowGroup =>
  location ? { key: location.id, name: location.name } : { key: noGroup, name: 'No location' }

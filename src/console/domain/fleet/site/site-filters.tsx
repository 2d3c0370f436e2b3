// The two filters of a list by region and by location.
import { useCallback, useMemo } from 'react'
import { type FilterChoice, FilterSelect } from '../../../parts/table/list-filters.tsx'
import { locationLabel, unassigned, useSites } from './sites.ts'

interface SiteFiltersProps {
  readonly region: string | undefined
  readonly location: string | undefined
  /** Whether rows without a region or a location can be chosen. */
  readonly hasUnassigned?: boolean
  readonly onChange: (changes: { readonly region?: string | undefined; readonly location?: string | undefined }) => void
}

export function SiteFilters({ region, location, hasUnassigned = true, onChange }: SiteFiltersProps) {
  const { regions, locations, locationById } = useSites()
  const regionChoices = useMemo<FilterChoice[]>(
    () => [
      ...regions.map(({ id, name }) => ({ value: String(id), label: name })),
      ...(hasUnassigned ? [{ value: unassigned, label: 'No region' }] : []),
    ],
    [regions, hasUnassigned],
  )
  const locationChoices = useMemo<FilterChoice[]>(
    () => [
      ...locations
        .filter((one) => region === undefined || String(one.region?.id ?? unassigned) === region)
        .map((one) => ({ value: String(one.id), label: region === undefined ? locationLabel(one) : one.name })),
      ...(hasUnassigned && (region === undefined || region === unassigned)
        ? [{ value: unassigned, label: 'No location' }]
        : []),
    ],
    [locations, region, hasUnassigned],
  )
  const setRegion = useCallback(
    (next: string | undefined) => {
      // A location outside the new region is cleared, because no row could match both filters.
      const regionOfLocation = String(locationById.get(Number(location))?.region?.id ?? unassigned)
      const isOutsideRegion = location !== undefined && next !== undefined && regionOfLocation !== next
      onChange({ region: next, ...(isOutsideRegion && { location: undefined }) })
    },
    [onChange, location, locationById],
  )
  const setLocation = useCallback((next: string | undefined) => onChange({ location: next }), [onChange])
  return (
    <>
      <FilterSelect label="Region" value={region} choices={regionChoices} onChange={setRegion} />
      <FilterSelect label="Location" value={location} choices={locationChoices} onChange={setLocation} />
    </>
  )
}

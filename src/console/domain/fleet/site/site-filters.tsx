// The two filters of a list by region and by location.
import { useCallback, useMemo } from 'react'
import { deletedLabel, type FilterChoice } from '../../../parts/table/filter-choices.ts'
import { formatFilter, parseFilter } from '../../../parts/table/filter-value.ts'
import { FilterSelect } from '../../../parts/table/list-filters.tsx'
import { locationLabel, unassigned, useSites } from './sites.ts'

interface SiteFiltersProps {
  readonly region: string | undefined
  readonly location: string | undefined
  /** Whether rows without a region or a location can be chosen. */
  readonly hasUnassigned?: boolean
  /** Whether several regions and locations can be chosen. */
  readonly isMulti?: boolean
  readonly onChange: (changes: { readonly region?: string | undefined; readonly location?: string | undefined }) => void
}

export function SiteFilters({ region, location, hasUnassigned = true, isMulti = false, onChange }: SiteFiltersProps) {
  const { regions, locations, locationById } = useSites()
  const isInside = useMemo(() => regionTest(region), [region])
  const regionChoices = useMemo<FilterChoice[]>(
    () => [
      ...regions.map(({ id, name }) => ({ value: String(id), label: name })),
      ...(hasUnassigned ? [{ value: unassigned, label: 'No region' }] : []),
    ],
    [regions, hasUnassigned],
  )
  const isChosen = useMemo(() => valueTest(location), [location])
  const locationChoices = useMemo<FilterChoice[]>(
    () => [
      ...locations
        .filter((one) => isInside(one.region?.id) || isChosen(one.id))
        .map((one) => ({ value: String(one.id), label: region === undefined ? locationLabel(one) : one.name })),
      ...(hasUnassigned && isInside(undefined) ? [{ value: unassigned, label: 'No location' }] : []),
    ],
    [locations, region, isInside, isChosen, hasUnassigned],
  )
  const setRegion = useCallback(
    (next: string | undefined) => {
      // Locations outside the new regions are cleared, because no row could match both filters.
      const isInNext = regionTest(next)
      const { values, isNot } = parseFilter(location)
      const kept = isNot ? values : values.filter((id) => isInNext(locationById.get(Number(id))?.region?.id))
      onChange({
        region: next,
        ...(kept.length < values.length && { location: formatFilter({ values: kept, isNot }) }),
      })
    },
    [onChange, location, locationById],
  )
  const setLocation = useCallback((next: string | undefined) => onChange({ location: next }), [onChange])
  return (
    <>
      <FilterSelect
        label="Region"
        value={region}
        choices={regionChoices}
        missingLabel={deletedLabel}
        isMulti={isMulti}
        onChange={setRegion}
      />
      <FilterSelect
        label="Location"
        value={location}
        choices={locationChoices}
        missingLabel={deletedLabel}
        isMulti={isMulti}
        onChange={setLocation}
      />
    </>
  )
}

/** Whether the filter names that id. */
function valueTest(filter: string | undefined): (id: number) => boolean {
  const { values } = parseFilter(filter)
  return (id) => values.includes(String(id))
}

/** Whether a location of that region can match the filter by region. */
function regionTest(region: string | undefined): (id: number | undefined) => boolean {
  const { values, isNot } = parseFilter(region)
  return (id) => values.length === 0 || values.includes(String(id ?? unassigned)) !== isNot
}

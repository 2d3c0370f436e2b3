// Shows the search box and the filters above the table of rooms.
import { useMemo, useState } from 'react'
import { sensorLabels } from '../../../contract/device/sensor-texts.ts'
import { compareText } from '../../../contract/search-text.ts'
import { profileChoices, useProfileNames } from '../../domain/fleet/device/profile-names.ts'
import { useFieldFilters } from '../../domain/fleet/fields/field-filters.tsx'
import { anySensor, needsAttention, peopleChoices, type RoomFilter } from '../../domain/fleet/room/room-filter.ts'
import type { RoomTableRow } from '../../domain/fleet/room/room-rows.ts'
import { roomStateLabel, roomStates } from '../../domain/fleet/room/room-state.tsx'
import { SiteFilters } from '../../domain/fleet/site/site-filters.tsx'
import { airSensors, limitText } from '../../domain/sensors/air.ts'
import { deletedLabel, type FilterChoice, ownLabel } from '../../parts/table/filter-choices.ts'
import { parseFilter } from '../../parts/table/filter-value.ts'
import { FilterBar, FilterSelect, SearchBox } from '../../parts/table/list-filters.tsx'
import { useSession } from '../../session.ts'

interface RoomFiltersProps {
  readonly rows: readonly RoomTableRow[]
  readonly filter: RoomFilter
  readonly onChange: (changes: { readonly [K in keyof RoomFilter]?: string | undefined }) => void
}

export function RoomFilters({ rows, filter, onChange }: RoomFiltersProps) {
  const { airLimits } = useSession()
  const profileNames = useProfileNames()
  const profiles = useMemo(() => profileChoices(profileNames), [profileNames])
  const tagChoices = useMemo<FilterChoice[]>(
    () =>
      [...new Set(rows.flatMap(({ tags }) => tags ?? []))].sort(compareText).map((tag) => ({ value: tag, label: tag })),
    [rows],
  )
  const airChoices = useMemo<FilterChoice[]>(() => {
    const chosen = parseFilter(filter.air).values
    return [
      { value: anySensor, label: 'Outside limits' },
      ...airSensors
        .filter((sensor) => limitText(sensor, airLimits) !== undefined || chosen.includes(sensor))
        .map((sensor) => ({ value: sensor, label: `${sensorLabels[sensor].name} outside limits` })),
    ]
  }, [airLimits, filter.air])

  const [hasTags, setHasTags] = useState(false)
  // The chip stays when the filter is cleared: the focus is on it.
  if (!hasTags && (tagChoices.length > 0 || filter.tag !== undefined)) setHasTags(true)

  const setFilter = useMemo(
    () => ({
      q: (q: string) => onChange({ q: q || undefined }),
      state: (next: FilterValue) => onChange({ state: next }),
      air: (next: FilterValue) => onChange({ air: next }),
      people: (next: FilterValue) => onChange({ people: next }),
      tag: (next: FilterValue) => onChange({ tag: next }),
      profile: (next: FilterValue) => onChange({ profile: next }),
    }),
    [onChange],
  )
  return (
    <FilterBar
      rare={useFieldFilters({ rows, value: filter.field, onChange })}
      search={
        <SearchBox
          label="Search rooms"
          placeholder="Name, location, region, tag or external ID"
          value={filter.q ?? ''}
          onChange={setFilter.q}
        />
      }
    >
      <SiteFilters region={filter.region} location={filter.location} isMulti onChange={onChange} />
      <FilterSelect label="State" value={filter.state} choices={stateChoices} isMulti onChange={setFilter.state} />
      <FilterSelect label="Air" value={filter.air} choices={airChoices} isMulti onChange={setFilter.air} />
      <FilterSelect label="People" value={filter.people} choices={peopleOptions} isMulti onChange={setFilter.people} />
      <FilterSelect
        label="Profile"
        value={filter.profile}
        choices={profiles}
        missingLabel={deletedLabel}
        isMulti
        onChange={setFilter.profile}
      />
      {hasTags && (
        <FilterSelect
          label="Tag"
          value={filter.tag}
          choices={tagChoices}
          missingLabel={ownLabel}
          isMulti
          onChange={setFilter.tag}
        />
      )}
    </FilterBar>
  )
}

type FilterValue = string | undefined
const stateChoices: readonly FilterChoice[] = [
  { value: needsAttention, label: 'Offline or degraded' },
  ...roomStates.map((state) => ({
    value: state,
    label: state === 'UNKNOWN' ? 'Cannot be seen or reconnecting' : roomStateLabel(state),
  })),
]
const peopleOptions: readonly FilterChoice[] = Object.entries(peopleChoices).map(([value, label]) => ({ value, label }))

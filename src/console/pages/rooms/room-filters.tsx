// Shows the search box and the filters above the table of rooms.
import { useCallback, useMemo } from 'react'
import { airSensors, limitText, sensorLabels } from '../../domain/air/air.ts'
import {
  anySensor,
  isAirSensor,
  isPeopleChoice,
  isRoomState,
  needsAttention,
  peopleChoices,
  type RoomFilter,
  unassigned,
} from '../../domain/room/room-filter.ts'
import { roomStateLabel, roomStates } from '../../domain/room/room-state.tsx'
import { locationLabel, useSites } from '../../domain/site/sites.ts'
import { FilterBar, type FilterChoice, FilterSelect, SearchBox } from '../../parts/table/list-filters.tsx'
import { useSession } from '../../session.ts'

interface RoomFiltersProps {
  readonly filter: RoomFilter
  readonly onChange: (changes: { readonly [K in keyof RoomFilter]: string | undefined }) => void
}

export function RoomFilters({ filter, onChange }: RoomFiltersProps) {
  const { regions, locations, locationById } = useSites()
  const { airLimits } = useSession()
  const { region, location } = filter

  const regionChoices = useMemo<FilterChoice[]>(
    () => [
      ...regions.map(({ id, name }) => ({ value: String(id), label: name })),
      { value: unassigned, label: 'No region' },
    ],
    [regions],
  )
  const locationChoices = useMemo<FilterChoice[]>(
    () => [
      ...locations
        .filter((one) => region === undefined || String(one.region?.id ?? unassigned) === region)
        .map((one) => ({ value: String(one.id), label: region === undefined ? locationLabel(one) : one.name })),
      ...(region === undefined || region === unassigned ? [{ value: unassigned, label: 'No location' }] : []),
    ],
    [locations, region],
  )
  const airChoices = useMemo<FilterChoice[]>(
    () => [
      { value: anySensor, label: 'Outside limits' },
      ...airSensors
        .filter((sensor) => limitText(sensor, airLimits) !== undefined)
        .map((sensor) => ({ value: sensor, label: `${sensorLabels[sensor].name} outside limits` })),
    ],
    [airLimits],
  )

  const setFilter = useMemo(
    () => ({
      q: (q: string) => onChange({ q: q || undefined }),
      location: (next: FilterValue) => onChange({ location: next }),
      state: (next: FilterValue) => onChange({ state: next }),
      air: (next: FilterValue) => onChange({ air: next }),
      people: (next: FilterValue) => onChange({ people: next }),
    }),
    [onChange],
  )
  const setRegion = useCallback(
    (next: FilterValue) => {
      // A location outside the new region is cleared, because no room could match both filters.
      const regionOfLocation = String(locationById.get(Number(location))?.region?.id ?? unassigned)
      const isOutsideRegion = location !== undefined && next !== undefined && regionOfLocation !== next
      onChange({ region: next, ...(isOutsideRegion && { location: undefined }) })
    },
    [onChange, location, locationById],
  )
  const state = filter.state === needsAttention || isRoomState(filter.state) ? filter.state : undefined
  const air = filter.air === anySensor || isAirSensor(filter.air) ? filter.air : undefined
  const people = isPeopleChoice(filter.people) ? filter.people : undefined

  return (
    <FilterBar>
      <SearchBox
        label="Search rooms"
        placeholder="Name, location or region"
        value={filter.q ?? ''}
        onChange={setFilter.q}
      />
      <FilterSelect label="Region" value={region} choices={regionChoices} onChange={setRegion} />
      <FilterSelect label="Location" value={location} choices={locationChoices} onChange={setFilter.location} />
      <FilterSelect label="State" value={state} choices={stateChoices} onChange={setFilter.state} />
      <FilterSelect label="Air" value={air} choices={airChoices} onChange={setFilter.air} />
      <FilterSelect label="People" value={people} choices={peopleOptions} onChange={setFilter.people} />
    </FilterBar>
  )
}

type FilterValue = string | undefined
const stateChoices: readonly FilterChoice[] = [
  { value: needsAttention, label: 'Offline or degraded' },
  ...roomStates.map((state) => ({ value: state, label: roomStateLabel(state) })),
]
const peopleOptions: readonly FilterChoice[] = Object.entries(peopleChoices).map(([value, label]) => ({ value, label }))

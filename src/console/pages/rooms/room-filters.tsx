// The search box and the filters above the table of rooms.
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
      { value: anySensor, label: 'Out of limits' },
      ...airSensors
        .filter((sensor) => limitText(sensor, airLimits) !== undefined)
        .map((sensor) => ({ value: sensor, label: `${sensorLabels[sensor].name} out of limits` })),
    ],
    [airLimits],
  )

  const choose = useMemo(
    () => ({
      q: (q: string) => onChange({ q: q || undefined }),
      location: (next: Chosen) => onChange({ location: next }),
      state: (next: Chosen) => onChange({ state: next }),
      air: (next: Chosen) => onChange({ air: next }),
      people: (next: Chosen) => onChange({ people: next }),
    }),
    [onChange],
  )
  const chooseRegion = useCallback(
    (next: Chosen) => {
      // A location of another region would leave nothing to show.
      const regionOfLocation = String(locationById.get(Number(location))?.region?.id ?? unassigned)
      const isApart = location !== undefined && next !== undefined && regionOfLocation !== next
      onChange({ region: next, ...(isApart && { location: undefined }) })
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
        onChange={choose.q}
      />
      <FilterSelect label="Region" value={region} choices={regionChoices} onChange={chooseRegion} />
      <FilterSelect label="Location" value={location} choices={locationChoices} onChange={choose.location} />
      <FilterSelect label="State" value={state} choices={stateChoices} onChange={choose.state} />
      <FilterSelect label="Air" value={air} choices={airChoices} onChange={choose.air} />
      <FilterSelect label="People" value={people} choices={peopleOptions} onChange={choose.people} />
    </FilterBar>
  )
}

type Chosen = string | undefined
const stateChoices: readonly FilterChoice[] = [
  { value: needsAttention, label: 'Offline or degraded' },
  ...roomStates.map((state) => ({ value: state, label: roomStateLabel(state) })),
]
const peopleOptions: readonly FilterChoice[] = Object.entries(peopleChoices).map(([value, label]) => ({ value, label }))

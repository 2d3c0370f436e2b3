// Shows the search box and the filters above the table of rooms.
import { useCallback, useMemo } from 'react'
import { airSensors, limitText, sensorWords } from '../../domain/air/air.ts'
import {
  anyAir,
  isAirSensor,
  isPeopleChoice,
  isRoomState,
  needy,
  nowhere,
  peopleChoices,
  type RoomFilter,
} from '../../domain/room/room-filter.ts'
import { roomStates, stateWord } from '../../domain/room/state-mark.tsx'
import { locationLabel, usePlaces } from '../../domain/site/sites.ts'
import { type Choice, FilterSelect, Filters, SearchBox } from '../../parts/table/list-filters.tsx'
import { useSession } from '../../session.ts'

interface RoomFiltersProps {
  readonly filter: RoomFilter
  readonly onChange: (changes: { readonly [K in keyof RoomFilter]: string | undefined }) => void
}

export function RoomFilters({ filter, onChange }: RoomFiltersProps) {
  const { regions, locations, locationById } = usePlaces()
  const { airLimits } = useSession()
  const { region, location } = filter

  const regionChoices = useMemo<Choice[]>(
    () => [
      ...regions.map(({ id, name }) => ({ value: String(id), label: name })),
      { value: nowhere, label: 'No region' },
    ],
    [regions],
  )
  const locationChoices = useMemo<Choice[]>(
    () => [
      ...locations
        .filter((one) => region === undefined || String(one.region?.id ?? nowhere) === region)
        .map((one) => ({ value: String(one.id), label: region === undefined ? locationLabel(one) : one.name })),
      ...(region === undefined || region === nowhere ? [{ value: nowhere, label: 'No location' }] : []),
    ],
    [locations, region],
  )
  const airChoices = useMemo<Choice[]>(
    () => [
      { value: anyAir, label: 'Outside limits' },
      ...airSensors
        .filter((sensor) => limitText(sensor, airLimits) !== undefined)
        .map((sensor) => ({ value: sensor, label: `${sensorWords[sensor].name} outside limits` })),
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
      const regionOfLocation = String(locationById.get(Number(location))?.region?.id ?? nowhere)
      const isOutsideRegion = location !== undefined && next !== undefined && regionOfLocation !== next
      onChange({ region: next, ...(isOutsideRegion && { location: undefined }) })
    },
    [onChange, location, locationById],
  )
  const state = filter.state === needy || isRoomState(filter.state) ? filter.state : undefined
  const air = filter.air === anyAir || isAirSensor(filter.air) ? filter.air : undefined
  const people = isPeopleChoice(filter.people) ? filter.people : undefined

  return (
    <Filters>
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
    </Filters>
  )
}

type FilterValue = string | undefined
const stateChoices: readonly Choice[] = [
  { value: needy, label: 'Offline or degraded' },
  ...roomStates.map((state) => ({ value: state, label: stateWord(state) })),
]
const peopleOptions: readonly Choice[] = Object.entries(peopleChoices).map(([value, label]) => ({ value, label }))

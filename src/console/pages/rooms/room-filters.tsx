// The search box and the filters above the table of rooms.
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
import { roomStates, stateWord } from '../../domain/room/room-state.tsx'
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
      { value: anyAir, label: 'Out of limits' },
      ...airSensors
        .filter((sensor) => limitText(sensor, airLimits) !== undefined)
        .map((sensor) => ({ value: sensor, label: `${sensorWords[sensor].name} out of limits` })),
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
      const regionOfLocation = String(locationById.get(Number(location))?.region?.id ?? nowhere)
      const isApart = location !== undefined && next !== undefined && regionOfLocation !== next
      onChange({ region: next, ...(isApart && { location: undefined }) })
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
        onChange={choose.q}
      />
      <FilterSelect label="Region" value={region} choices={regionChoices} onChange={chooseRegion} />
      <FilterSelect label="Location" value={location} choices={locationChoices} onChange={choose.location} />
      <FilterSelect label="State" value={state} choices={stateChoices} onChange={choose.state} />
      <FilterSelect label="Air" value={air} choices={airChoices} onChange={choose.air} />
      <FilterSelect label="People" value={people} choices={peopleOptions} onChange={choose.people} />
    </Filters>
  )
}

type Chosen = string | undefined
const stateChoices: readonly Choice[] = [
  { value: needy, label: 'Offline or degraded' },
  ...roomStates.map((state) => ({ value: state, label: stateWord(state) })),
]
const peopleOptions: readonly Choice[] = Object.entries(peopleChoices).map(([value, label]) => ({ value, label }))

// Shows the search box and the filters above the table of devices.
import { useMemo } from 'react'
import { modelOf } from '../../../contract/device/models.ts'
import {
  connectedChoices,
  type DeviceFilter,
  type DeviceTableRow,
  firmwareOf,
  firmwareStates,
  isConnectedChoice,
  isFirmwareState,
  isSettingsState,
  settingsStates,
  unknownFirmware,
} from '../../domain/fleet/device/device-rows.ts'
import { profileChoices, useProfileNames } from '../../domain/fleet/device/profile-names.ts'
import { SiteFilters } from '../../domain/fleet/site/site-filters.tsx'
import { countFilters, FilterBar, type FilterChoice, FilterSelect, SearchBox } from '../../parts/table/list-filters.tsx'
import { compareText } from '../../parts/text/search-text.ts'

interface DeviceFiltersProps {
  readonly rows: readonly DeviceTableRow[]
  readonly filter: DeviceFilter
  readonly onChange: (changes: { readonly [K in keyof DeviceFilter]?: string | undefined }) => void
}

export function DeviceFilters({ rows, filter, onChange }: DeviceFiltersProps) {
  const modelChoices = useMemo<FilterChoice[]>(
    () =>
      [...new Set(rows.map((row) => row.model))]
        .map((model) => ({ value: model, label: modelOf(model).name }))
        .sort((a, b) => compareText(a.label, b.label)),
    [rows],
  )
  const firmwareChoices = useMemo<FilterChoice[]>(
    () =>
      [...new Set(rows.map(firmwareOf))]
        .sort(compareText)
        .map((value) => ({ value, label: value === unknownFirmware ? 'Not reported' : value })),
    [rows],
  )
  const profileNames = useProfileNames()
  const profiles = useMemo(() => profileChoices(profileNames), [profileNames])
  const setFilter = useMemo(
    () => ({
      q: (q: string) => onChange({ q: q || undefined }),
      model: (model: string | undefined) => onChange({ model }),
      firmware: (firmware: string | undefined) => onChange({ firmware }),
      connected: (connected: string | undefined) => onChange({ connected }),
      update: (update: string | undefined) => onChange({ update }),
      profile: (profile: string | undefined) => onChange({ profile }),
      settings: (settings: string | undefined) => onChange({ settings }),
    }),
    [onChange],
  )
  const update = isFirmwareState(filter.update) ? filter.update : undefined
  const connected = isConnectedChoice(filter.connected) ? filter.connected : undefined
  const settings = isSettingsState(filter.settings) ? filter.settings : undefined
  return (
    <FilterBar
      setCount={countFilters(filter)}
      search={
        <SearchBox
          label="Search devices"
          placeholder="Serial number, model, room, location, IP address"
          value={filter.q ?? ''}
          onChange={setFilter.q}
        />
      }
    >
      <SiteFilters region={filter.region} location={filter.location} onChange={onChange} />
      <FilterSelect label="Model" value={filter.model} choices={modelChoices} onChange={setFilter.model} />
      <FilterSelect label="Firmware" value={filter.firmware} choices={firmwareChoices} onChange={setFilter.firmware} />
      <FilterSelect label="Update" value={update} choices={updateChoices} onChange={setFilter.update} />
      <FilterSelect label="State" value={connected} choices={stateChoices} onChange={setFilter.connected} />
      <FilterSelect label="Profile" value={filter.profile} choices={profiles} onChange={setFilter.profile} />
      <FilterSelect label="Settings" value={settings} choices={settingsChoices} onChange={setFilter.settings} />
    </FilterBar>
  )
}

const updateChoices: readonly FilterChoice[] = Object.entries(firmwareStates).map(([value, label]) => ({
  value,
  label: `Firmware ${label.toLowerCase()}`,
}))
const settingsChoices: readonly FilterChoice[] = Object.entries(settingsStates).map(([value, label]) => ({
  value,
  label,
}))
const stateChoices: readonly FilterChoice[] = Object.entries(connectedChoices).map(([value, label]) => ({
  value,
  label,
}))

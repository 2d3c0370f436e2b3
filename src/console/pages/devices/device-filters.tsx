// Shows the search box and the filters above the table of devices.
import { useMemo } from 'react'
import { modelOf } from '../../../contract/device/models.ts'
import {
  connectedChoices,
  type DeviceFilter,
  type DeviceTableRow,
  firmwareOf,
  isConnectedChoice,
  unknownFirmware,
} from '../../domain/device/device-rows.ts'
import { FilterBar, type FilterChoice, FilterSelect, SearchBox } from '../../parts/table/list-filters.tsx'
import { compareText } from '../../parts/text/search-text.ts'

interface DeviceFiltersProps {
  readonly rows: readonly DeviceTableRow[]
  readonly filter: DeviceFilter
  readonly onChange: (changes: { readonly [K in keyof DeviceFilter]: string | undefined }) => void
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
  const setFilter = useMemo(
    () => ({
      q: (q: string) => onChange({ q: q || undefined }),
      model: (model: string | undefined) => onChange({ model }),
      firmware: (firmware: string | undefined) => onChange({ firmware }),
      connected: (connected: string | undefined) => onChange({ connected }),
    }),
    [onChange],
  )
  const connected = isConnectedChoice(filter.connected) ? filter.connected : undefined
  return (
    <FilterBar>
      <SearchBox
        label="Search devices"
        placeholder="Serial number, model, room, location"
        value={filter.q ?? ''}
        onChange={setFilter.q}
      />
      <FilterSelect label="Model" value={filter.model} choices={modelChoices} onChange={setFilter.model} />
      <FilterSelect label="Firmware" value={filter.firmware} choices={firmwareChoices} onChange={setFilter.firmware} />
      <FilterSelect label="State" value={connected} choices={stateChoices} onChange={setFilter.connected} />
    </FilterBar>
  )
}

const stateChoices: readonly FilterChoice[] = Object.entries(connectedChoices).map(([value, label]) => ({
  value,
  label,
}))

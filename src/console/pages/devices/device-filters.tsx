// Shows the search box and the filters above the table of devices.
import { useMemo } from 'react'
import { compareText } from '../../../contract/search-text.ts'
import { powerNames } from '../../domain/fleet/device/device.ts'
import { kindName, kindOf } from '../../domain/fleet/device/device-kind.tsx'
import {
  connectedChoices,
  type DeviceFilter,
  type DeviceTableRow,
  firmwareOf,
  firmwareStates,
  isConnectedChoice,
  isFirmwareState,
  isSettingsState,
  isSinceChoice,
  makerOf,
  notReported,
  powerOf,
  settingsStates,
  sinceChoices,
} from '../../domain/fleet/device/device-rows.ts'
import { profileChoices, useProfileNames } from '../../domain/fleet/device/profile-names.ts'
import { FieldFilters } from '../../domain/fleet/fields/field-filters.tsx'
import { SiteFilters } from '../../domain/fleet/site/site-filters.tsx'
import { sourceTypeNames } from '../../domain/fleet/source/source.ts'
import { countFilters, FilterBar, type FilterChoice, FilterSelect, SearchBox } from '../../parts/table/list-filters.tsx'

interface DeviceFiltersProps {
  readonly rows: readonly DeviceTableRow[]
  readonly filter: DeviceFilter
  readonly onChange: (changes: { readonly [K in keyof DeviceFilter]?: string | undefined }) => void
}

/** The values that devices have, each with its label. */
const useChoices = (
  rows: readonly DeviceTableRow[],
  idOf: (row: DeviceTableRow) => string,
  labelOf: (row: DeviceTableRow) => string | undefined,
): readonly FilterChoice[] =>
  useMemo(
    () =>
      [...new Map(rows.map((row) => [idOf(row), row]))]
        .map(([value, row]) => ({ value, label: labelOf(row) ?? 'Not reported' }))
        .sort((a, b) => compareText(a.label, b.label)),
    [rows, idOf, labelOf],
  )

const modelCode = ({ model }: DeviceTableRow) => model
const modelName = ({ modelName }: DeviceTableRow) => modelName
const firmwareName = ({ firmwareVersion }: DeviceTableRow) => firmwareVersion
const kindLabel = (row: DeviceTableRow) => kindName(kindOf(row))
const makerName = ({ maker }: DeviceTableRow) => maker
const powerName = ({ power }: DeviceTableRow) => power && powerNames[power]
const viaId = ({ via }: DeviceTableRow) => via ?? notReported
const sourceOf = ({ sourceType }: DeviceTableRow) => sourceType ?? notReported
const sourceName = ({ sourceType }: DeviceTableRow) =>
  sourceType === undefined ? 'No source' : sourceTypeNames[sourceType]
const gatewayName = ({ via, viaName }: DeviceTableRow) => (via === undefined ? 'No gateway' : viaName)

export function DeviceFilters({ rows, filter, onChange }: DeviceFiltersProps) {
  const kinds = useChoices(rows, kindOf, kindLabel)
  const makers = useChoices(rows, makerOf, makerName)
  const models = useChoices(rows, modelCode, modelName)
  const firmware = useChoices(rows, firmwareOf, firmwareName)
  const powers = useChoices(rows, powerOf, powerName)
  const gateways = useChoices(rows, viaId, gatewayName)
  const sources = useChoices(rows, sourceOf, sourceName)
  const profileNames = useProfileNames()
  const profiles = useMemo(() => profileChoices(profileNames), [profileNames])
  const setFilter = useMemo(
    () => ({
      q: (q: string) => onChange({ q: q || undefined }),
      kind: (kind: string | undefined) => onChange({ kind }),
      maker: (maker: string | undefined) => onChange({ maker }),
      model: (model: string | undefined) => onChange({ model }),
      power: (power: string | undefined) => onChange({ power }),
      since: (since: string | undefined) => onChange({ since }),
      via: (via: string | undefined) => onChange({ via }),
      source: (source: string | undefined) => onChange({ source }),
      firmware: (firmware: string | undefined) => onChange({ firmware }),
      connected: (connected: string | undefined) => onChange({ connected }),
      update: (update: string | undefined) => onChange({ update }),
      profile: (profile: string | undefined) => onChange({ profile }),
      settings: (settings: string | undefined) => onChange({ settings }),
    }),
    [onChange],
  )
  const update = isFirmwareState(filter.update) ? filter.update : undefined
  const since = isSinceChoice(filter.since) ? filter.since : undefined
  const connected = isConnectedChoice(filter.connected) ? filter.connected : undefined
  const settings = isSettingsState(filter.settings) ? filter.settings : undefined
  return (
    <FilterBar
      setCount={countFilters(filter)}
      search={
        <SearchBox
          label="Search devices"
          placeholder="Name, serial number, asset tag, model, room, location, IP address"
          value={filter.q ?? ''}
          onChange={setFilter.q}
        />
      }
    >
      <SiteFilters region={filter.region} location={filter.location} onChange={onChange} />
      <FilterSelect label="Kind" value={filter.kind} choices={kinds} onChange={setFilter.kind} />
      {differs(makers, filter.maker) && (
        <FilterSelect label="Maker" value={filter.maker} choices={makers} onChange={setFilter.maker} />
      )}
      <FilterSelect label="Model" value={filter.model} choices={models} onChange={setFilter.model} />
      <FilterSelect label="State" value={connected} choices={stateChoices} onChange={setFilter.connected} />
      <FilterSelect label="Since" value={since} choices={sinceOptions} onChange={setFilter.since} />
      {differs(powers, filter.power) && (
        <FilterSelect label="Power" value={filter.power} choices={powers} onChange={setFilter.power} />
      )}
      <FilterSelect label="Firmware" value={filter.firmware} choices={firmware} onChange={setFilter.firmware} />
      <FilterSelect label="Update" value={update} choices={updateChoices} onChange={setFilter.update} />
      {differs(gateways, filter.via) && (
        <FilterSelect label="Via" value={filter.via} choices={gateways} onChange={setFilter.via} />
      )}
      {differs(sources, filter.source) && (
        <FilterSelect label="Source" value={filter.source} choices={sources} onChange={setFilter.source} />
      )}
      <FilterSelect label="Profile" value={filter.profile} choices={profiles} onChange={setFilter.profile} />
      <FilterSelect label="Settings" value={settings} choices={settingsChoices} onChange={setFilter.settings} />
      <FieldFilters rows={rows} value={filter.field} onChange={onChange} />
    </FilterBar>
  )
}

/** A filter is not offered while all devices have the same value, unless the address has it. */
const differs = (choices: readonly FilterChoice[], value: string | undefined): boolean =>
  choices.length > 1 || value !== undefined

const sinceOptions: readonly FilterChoice[] = Object.entries(sinceChoices).map(([value, label]) => ({ value, label }))
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

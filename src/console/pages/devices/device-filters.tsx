// Shows the search box and the filters above the table of devices.
import { useCallback, useMemo } from 'react'
import { compareText } from '../../../contract/search-text.ts'
import { powerNames } from '../../domain/fleet/device/device.ts'
import { kindName, kindOf } from '../../domain/fleet/device/device-kind.tsx'
import {
  connectedChoices,
  type DeviceFilter,
  type DeviceTableRow,
  firmwareOf,
  firmwareStates,
  makerOf,
  notReported,
  powerOf,
  settingsStates,
  sinceChoices,
} from '../../domain/fleet/device/device-rows.ts'
import { profileChoices, useProfileNames } from '../../domain/fleet/device/profile-names.ts'
import { useFieldFilters } from '../../domain/fleet/fields/field-filters.tsx'
import { SiteFilters } from '../../domain/fleet/site/site-filters.tsx'
import { sourceTypeNames } from '../../domain/fleet/source/source.ts'
import { deletedLabel, type FilterChoice, type MissingLabel } from '../../parts/table/filter-choices.ts'
import { FilterBar, FilterSelect, type RareFilter, SearchBox } from '../../parts/table/list-filters.tsx'

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
  const setSearch = useCallback((q: string) => onChange({ q: q || undefined }), [onChange])
  const setFilter = useMemo(() => settersOf(onChange), [onChange])
  const chip = (label: string, name: FilterName, choices: readonly FilterChoice[], missingLabel?: MissingLabel) => (
    <FilterSelect {...{ label, choices, missingLabel }} value={filter[name]} isMulti onChange={setFilter[name]} />
  )
  // A filter is not offered while all devices have the same value.
  const rare = (...[label, name, choices, missingLabel]: Parameters<typeof chip>): RareFilter => ({
    label,
    isSet: filter[name] !== undefined,
    isOffered: choices.length > 1,
    chip: chip(label, name, choices, missingLabel),
  })
  return (
    <FilterBar
      rare={[
        rare('Update', 'update', updateChoices),
        rare('Since', 'since', sinceOptions),
        rare('Firmware', 'firmware', firmware, reportedLabel),
        rare('Maker', 'maker', makers, reportedLabel),
        rare('Power', 'power', powers, reportedLabel),
        rare('Via', 'via', gateways, gatewayLabel),
        rare('Source', 'source', sources, reportedLabel),
        ...useFieldFilters({ rows, value: filter.field, onChange }),
      ]}
      search={
        <SearchBox
          label="Search devices"
          placeholder="Name, serial number, asset tag, model, room, location, IP address"
          value={filter.q ?? ''}
          onChange={setSearch}
        />
      }
    >
      <SiteFilters region={filter.region} location={filter.location} isMulti onChange={onChange} />
      {chip('State', 'connected', stateChoices)}
      {chip('Kind', 'kind', kinds, reportedLabel)}
      {chip('Model', 'model', models, reportedLabel)}
      {chip('Settings', 'settings', settingsChoices)}
      {chip('Profile', 'profile', profiles, deletedLabel)}
    </FilterBar>
  )
}

const filterNames = [
  'connected',
  'kind',
  'model',
  'settings',
  'profile',
  'update',
  'since',
  'firmware',
  'maker',
  'power',
  'via',
  'source',
] as const
type FilterName = (typeof filterNames)[number]
type Setters = Readonly<Record<FilterName, (value: string | undefined) => void>>

const settersOf = (onChange: DeviceFiltersProps['onChange']): Setters =>
  Object.fromEntries(
    filterNames.map((name) => [name, (value: string | undefined) => onChange({ [name]: value })]),
  ) as Setters

/** Names a value that no device has at present. */
const reportedLabel: MissingLabel = (value) => (value === notReported ? 'Not reported' : value)
const gatewayLabel: MissingLabel = (id) => (id === notReported ? 'No gateway' : deletedLabel(id))

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

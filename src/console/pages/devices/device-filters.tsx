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
import {
  countFilters,
  FilterBar,
  type FilterChoice,
  FilterSelect,
  type RareFilter,
  SearchBox,
} from '../../parts/table/list-filters.tsx'

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
  const rareOf = (label: string, name: RareName, choices: readonly FilterChoice[]): RareFilter[] =>
    differs(choices, filter[name])
      ? [
          {
            label,
            isSet: filter[name] !== undefined,
            chip: <FilterSelect {...{ label, choices }} value={filter[name]} isMulti onChange={setFilter[name]} />,
          },
        ]
      : []
  const rare = [
    ...rareOf('Update', 'update', updateChoices),
    ...rareOf('Since', 'since', sinceOptions),
    ...rareOf('Firmware', 'firmware', firmware),
    ...rareOf('Maker', 'maker', makers),
    ...rareOf('Power', 'power', powers),
    ...rareOf('Via', 'via', gateways),
    ...rareOf('Source', 'source', sources),
    ...useFieldFilters({ rows, value: filter.field, onChange }),
  ]
  return (
    <FilterBar
      setCount={countFilters(filter)}
      rare={rare}
      search={
        <SearchBox
          label="Search devices"
          placeholder="Name, serial number, asset tag, model, room, location, IP address"
          value={filter.q ?? ''}
          onChange={setFilter.q}
        />
      }
    >
      <SiteFilters region={filter.region} location={filter.location} isMulti onChange={onChange} />
      <FilterSelect
        label="State"
        value={filter.connected}
        choices={stateChoices}
        isMulti
        onChange={setFilter.connected}
      />
      <FilterSelect label="Kind" value={filter.kind} choices={kinds} isMulti onChange={setFilter.kind} />
      <FilterSelect label="Model" value={filter.model} choices={models} isMulti onChange={setFilter.model} />
      <FilterSelect
        label="Settings"
        value={filter.settings}
        choices={settingsChoices}
        isMulti
        onChange={setFilter.settings}
      />
      <FilterSelect label="Profile" value={filter.profile} choices={profiles} isMulti onChange={setFilter.profile} />
    </FilterBar>
  )
}

type RareName = 'update' | 'since' | 'firmware' | 'maker' | 'power' | 'via' | 'source'

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

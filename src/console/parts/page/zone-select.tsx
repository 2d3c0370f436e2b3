// A searchable list of the time zones, for a value that may be absent.
import { Select, type SelectProps } from '@mantine/core'

const zones = Intl.supportedValuesOf('timeZone')
/** Intl does not list UTC. */
const zonesAndUtc = zones.includes('UTC') ? zones : ['UTC', ...zones]
const maxShownZones = 60

type ZoneSelectProps = Omit<SelectProps, 'data' | 'value' | 'onChange' | 'filter'> & {
  readonly value: string | null
  readonly onChange: (zone: string | null) => void
}

export function ZoneSelect({ value, onChange, ...select }: ZoneSelectProps) {
  return (
    <Select
      data={value === null || zonesAndUtc.includes(value) ? zonesAndUtc : [value, ...zonesAndUtc]}
      value={value}
      onChange={onChange}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Clear' }}
      limit={maxShownZones}
      filter={({ options, search }) => {
        const wanted = search.toLowerCase().trim().replaceAll(' ', '_')
        return options.filter((option) => 'value' in option && String(option.value).toLowerCase().includes(wanted))
      }}
      nothingFoundMessage="No matches. Try a large city."
      {...select}
    />
  )
}

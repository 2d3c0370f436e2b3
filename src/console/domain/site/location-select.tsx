// The select for the location of a room, which may be none.
import { Select } from '@mantine/core'
import { locationLabel, useSites } from './sites.ts'

interface LocationSelectProps {
  readonly value: number | null
  readonly onChange: (locationId: number | null) => void
  readonly description?: string
  readonly disabled?: boolean
}

/** Longer lists are slow to open; typing finds the other locations. */
const maxLocationsShown = 300

export function LocationSelect({ value, onChange, ...more }: LocationSelectProps) {
  const { locations } = useSites()
  return (
    <Select
      label="Location"
      placeholder="No location"
      data={locations.map((location) => ({ value: String(location.id), label: locationLabel(location) }))}
      value={value === null ? null : String(value)}
      onChange={(chosen) => onChange(chosen === null ? null : Number(chosen))}
      searchable
      clearable
      limit={maxLocationsShown}
      nothingFoundMessage="No matches. Add locations under Sites."
      clearButtonProps={{ 'aria-label': 'No location' }}
      {...more}
    />
  )
}

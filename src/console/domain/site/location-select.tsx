// The select for the location of a room. Only people who see all regions may choose none.
import { Select } from '@mantine/core'
import { useSession } from '../../session.ts'
import { locationLabel, useSites } from './sites.ts'

interface LocationSelectProps {
  readonly value: number | null
  readonly onChange: (locationId: number | null) => void
  readonly description?: string | undefined
  readonly disabled?: boolean
}

/** Longer lists are slow to open; typing finds the other locations. */
const maxLocationsShown = 300

export function LocationSelect({ value, onChange, ...more }: LocationSelectProps) {
  const { locations } = useSites()
  const { allRegions } = useSession()
  return (
    <Select
      label="Location"
      placeholder={allRegions ? 'No location' : 'Choose a location'}
      data={locations.map((location) => ({ value: String(location.id), label: locationLabel(location) }))}
      value={value === null ? null : String(value)}
      onChange={(chosen) => onChange(chosen === null ? null : Number(chosen))}
      searchable
      clearable={allRegions}
      allowDeselect={allRegions}
      limit={maxLocationsShown}
      nothingFoundMessage="No matches. Add locations under Sites."
      clearButtonProps={{ 'aria-label': 'No location' }}
      {...more}
    />
  )
}

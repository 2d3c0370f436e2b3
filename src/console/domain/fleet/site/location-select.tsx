// The select for the location of a room. Only people who see all regions can choose none, unless a location is required.
import { Select } from '@mantine/core'
import { useSession } from '../../../session.ts'
import { locationLabel, useSites } from './sites.ts'

interface LocationSelectProps {
  readonly value: number | null
  readonly onChange: (locationId: number | null) => void
  readonly description?: string | undefined
  readonly disabled?: boolean
  /** If true, a location must be chosen: null means not chosen yet. */
  readonly isRequired?: boolean
}

/** Longer lists are slow to open; typing finds the other locations. */
const maxLocationsShown = 300

export function LocationSelect({ value, onChange, isRequired = false, ...more }: LocationSelectProps) {
  const { locations } = useSites()
  const { allRegions } = useSession()
  const canBeNone = allRegions && !isRequired
  return (
    <Select
      label="Location"
      placeholder={canBeNone ? 'No location' : 'Choose a location'}
      data={locations.map((location) => ({ value: String(location.id), label: locationLabel(location) }))}
      value={value === null ? null : String(value)}
      onChange={(chosen) => onChange(chosen === null ? null : Number(chosen))}
      searchable
      clearable={canBeNone}
      allowDeselect={canBeNone}
      limit={maxLocationsShown}
      nothingFoundMessage="No matches. Add locations under Sites."
      clearButtonProps={{ 'aria-label': 'No location' }}
      {...more}
    />
  )
}

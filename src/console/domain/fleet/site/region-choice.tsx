// The fields that choose between all regions and some of them. [contract 11.access]
import { Checkbox, MultiSelect, Stack } from '@mantine/core'
import type { ListedRegion } from './sites.ts'

export interface RegionChoice {
  readonly allRegions: boolean
  readonly regionIds: readonly number[]
}

interface RegionChoiceFieldProps {
  readonly value: RegionChoice
  readonly onChange: (value: RegionChoice) => void
  readonly regions: readonly ListedRegion[]
  /** Says what an empty list means. */
  readonly emptyText: string
  readonly disabled?: boolean
}

export const RegionChoiceField = ({
  value,
  onChange,
  regions,
  emptyText,
  disabled = false,
}: RegionChoiceFieldProps) => (
  <Stack gap="xs">
    <Checkbox
      label="All regions"
      description="Also regions that are created later, and everything without a region."
      checked={value.allRegions}
      disabled={disabled}
      onChange={(event) => onChange({ ...value, allRegions: event.currentTarget.checked })}
    />
    {!value.allRegions && (
      <MultiSelect
        label="Regions"
        placeholder={value.regionIds.length === 0 ? 'Select regions' : undefined}
        description={value.regionIds.length === 0 ? emptyText : undefined}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        data={regions.map(({ id, name }) => ({ value: String(id), label: name }))}
        value={value.regionIds.map(String)}
        onChange={(ids) => onChange({ ...value, regionIds: ids.map(Number) })}
        searchable
        disabled={disabled}
        nothingFoundMessage="No matches"
        maxDropdownHeight={220}
      />
    )}
  </Stack>
)

// The fields for a time that repeats every week: days, beginning and end.

import { Group, Stack, TextInput } from '@mantine/core'
import { timeOfDayPattern, type WeeklyHours } from '../../../../contract/weekly-hours.ts'
import { DaysField } from '../../../parts/page/days-field.tsx'

interface WeeklyFieldProps {
  readonly label: string
  readonly value: WeeklyHours
  readonly onChange: (value: WeeklyHours) => void
}

const timePattern = new RegExp(timeOfDayPattern)

export const isWeeklyHours = ({ days, from, to }: WeeklyHours): boolean =>
  days.length > 0 && timePattern.test(from) && timePattern.test(to)

export const WeeklyField = ({ label, value, onChange }: WeeklyFieldProps) => (
  <Stack gap="xs">
    <DaysField label={label} value={value.days} onChange={(days) => onChange({ ...value, days })} />
    <Group gap="sm" align="flex-start" grow>
      <TextInput
        type="time"
        label="From"
        value={value.from}
        onChange={(event) => onChange({ ...value, from: event.currentTarget.value })}
      />
      <TextInput
        type="time"
        label="To"
        description={value.to <= value.from ? 'On the next day' : undefined}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        value={value.to}
        onChange={(event) => onChange({ ...value, to: event.currentTarget.value })}
      />
    </Group>
  </Stack>
)

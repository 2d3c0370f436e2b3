// The fields for a time that repeats every week: days, beginning and end.

import { Checkbox, Group, Stack, TextInput } from '@mantine/core'
import { timeOfDayPattern, type WeeklyHours, weekdays } from '../../../../contract/weekly-hours.ts'
import { weekdayNames } from './silence.ts'

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
    <Checkbox.Group
      label={label}
      value={value.days}
      // In week order, as the server answers, so forms can compare them.
      onChange={(days) => onChange({ ...value, days: weekdays.filter((day) => days.includes(day)) })}
      error={value.days.length === 0 && 'Choose at least one day.'}
    >
      <Group gap="sm" mt={6}>
        {weekdays.map((day) => (
          <Checkbox key={day} value={day} label={weekdayNames[day]} />
        ))}
      </Group>
    </Checkbox.Group>
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

// The field for days of the week.
import { Checkbox, Group } from '@mantine/core'
import { type Weekday, weekdays } from '../../../contract/weekly-hours.ts'
import { weekdayNames } from '../text/weekdays.ts'

interface DaysFieldProps {
  readonly label: string
  readonly value: readonly Weekday[]
  readonly onChange: (days: Weekday[]) => void
}

export const DaysField = ({ label, value, onChange }: DaysFieldProps) => (
  <Checkbox.Group
    label={label}
    value={[...value]}
    // In week order, as the server answers, so forms can compare them.
    onChange={(days) => onChange(weekdays.filter((day) => days.includes(day)))}
    error={value.length === 0 && 'Choose at least one day.'}
  >
    <Group gap="sm" mt={6}>
      {weekdays.map((day) => (
        <Checkbox key={day} value={day} label={weekdayNames[day]} />
      ))}
    </Group>
  </Checkbox.Group>
)

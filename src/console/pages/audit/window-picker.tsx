// Chooses the period of the audit log: some days up to now, or a start and an end.
import { Button, Group, SegmentedControl, Text, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { type AuditWindow, dateTimeLocalText, type WindowChoice } from '../../domain/journal/audit/audit-window.ts'
import { fullTime } from '../../parts/text/time.tsx'

interface WindowPickerProps {
  readonly window: AuditWindow
  /** Receives the values for the address: the name of a preset, or times. */
  readonly onChange: (from: string, to: string | undefined) => void
}

const choices: readonly { readonly value: WindowChoice; readonly label: string }[] = [
  { value: 'today', label: 'Today' },
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' },
  { value: 'custom', label: 'Custom' },
]

export function WindowPicker({ window, onChange }: WindowPickerProps) {
  const choose = (value: string) => {
    if (value === 'custom') onChange(new Date(window.from).toISOString(), new Date(window.to).toISOString())
    else onChange(value, undefined)
  }
  return (
    <Group gap="sm" align="flex-start">
      <SegmentedControl
        aria-label="Period"
        data-printed={`${fullTime(window.from)} to ${fullTime(Math.min(window.to, Date.now()))}`}
        data={[...choices]}
        value={window.choice}
        onChange={choose}
        withItemsBorders={false}
      />
      {window.choice === 'custom' && (
        <CustomPeriod key={`${window.from} ${window.to}`} window={window} onChange={onChange} />
      )}
    </Group>
  )
}

function CustomPeriod({ window, onChange }: WindowPickerProps) {
  const [from, setFrom] = useState(dateTimeLocalText(window.from))
  const [to, setTo] = useState(dateTimeLocalText(window.to))
  const [start, end] = [new Date(from).getTime(), new Date(to).getTime()]
  const isComplete = !Number.isNaN(start) && !Number.isNaN(end)
  const isReversed = isComplete && start >= end
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isComplete && !isReversed) onChange(new Date(start).toISOString(), new Date(end).toISOString())
  }
  return (
    <form onSubmit={submit} noValidate data-screen-only>
      <Group gap="xs" align="flex-start">
        <TextInput
          type="datetime-local"
          aria-label="From"
          leftSection={<Text fz="xs">From</Text>}
          leftSectionWidth={48}
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput
          type="datetime-local"
          aria-label="To"
          leftSection={<Text fz="xs">To</Text>}
          leftSectionWidth={48}
          value={to}
          error={isReversed && 'End must be after start.'}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" disabled={!isComplete || isReversed}>
          Show
        </Button>
      </Group>
    </form>
  )
}

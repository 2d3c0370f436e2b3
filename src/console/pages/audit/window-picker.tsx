// Choosing the time that is looked at: some days up to now, or two moments of one's own.
import { Button, Group, SegmentedControl, Text, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { type AuditWindow, dateTimeLocalText, type WindowChoice } from '../../domain/audit/audit-window.ts'

interface WindowPickerProps {
  readonly window: AuditWindow
  /** As the address has it: the name of a preset, or times. */
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
        aria-label="Time"
        data={[...choices]}
        value={window.choice}
        onChange={choose}
        withItemsBorders={false}
      />
      {window.choice === 'custom' && (
        <Moments key={`${window.from} ${window.to}`} window={window} onChange={onChange} />
      )}
    </Group>
  )
}

function Moments({ window, onChange }: WindowPickerProps) {
  const [from, setFrom] = useState(dateTimeLocalText(window.from))
  const [to, setTo] = useState(dateTimeLocalText(window.to))
  const [start, end] = [new Date(from).getTime(), new Date(to).getTime()]
  const isComplete = !Number.isNaN(start) && !Number.isNaN(end)
  const isBackwards = isComplete && start >= end
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isComplete && !isBackwards) onChange(new Date(start).toISOString(), new Date(end).toISOString())
  }
  return (
    <form onSubmit={submit} noValidate>
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
          error={isBackwards && 'The end must be after the beginning.'}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" disabled={!isComplete || isBackwards}>
          Show
        </Button>
      </Group>
    </form>
  )
}

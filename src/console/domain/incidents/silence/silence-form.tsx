// Silences a place for a time or every week: no incidents open there. [contract 10.silence]

import { MultiSelect, SegmentedControl, Select, Stack, Text, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { hourMs } from '../../../../contract/durations.ts'
import { maxOperatorSilenceMs } from '../../../../contract/incidents/limits.ts'
import { isSecurityRule, type RuleId } from '../../../../contract/incidents/rule-table.ts'
import type { WeeklyHours } from '../../../../contract/weekly-hours.ts'
import { useWrite } from '../../../api.ts'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'
import { usePermissions } from '../../../session.ts'
import { ruleChoices } from '../rule-choices.ts'
import type { SilencedPlace } from './silence.ts'
import { isWeeklyHours, WeeklyField } from './weekly-field.tsx'

interface SilenceFormProps {
  /** Undefined until a place is chosen. */
  readonly place: SilencedPlace | undefined
  /** The name of the place, or the field that chooses it. */
  readonly intro: ReactNode
  readonly onClose: () => void
}

const lengths = {
  '1': '1 hour',
  '4': '4 hours',
  '8': '8 hours',
  '24': '24 hours',
  '72': '3 days',
  '168': '7 days',
  time: 'Custom time',
} as const
type Length = keyof typeof lengths
const lengthChoices = Object.entries(lengths).map(([value, label]) => ({ value: value as Length, label }))
const nights: WeeklyHours = { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '20:00', to: '06:00' }

export function SilenceForm({ place, intro, onClose }: SilenceFormProps) {
  const { write, manage } = usePermissions()
  const [kind, setKind] = useState('once')
  const [length, setLength] = useState<Length>('4')
  const [from, setFrom] = useState('')
  const [until, setUntil] = useState('')
  const [weekly, setWeekly] = useState(nights)
  const [rules, setRules] = useState<RuleId[]>([])
  const [reason, setReason] = useState('')
  const create = useWrite('silencesCreate', { quiet: true, successText: 'Silence created', onDone: onClose })

  const startMs = from === '' ? Date.now() : new Date(from).getTime()
  const endMs = length === 'time' ? new Date(until).getTime() : startMs + Number(length) * hourMs
  const problem = kind === 'once' ? endProblem(startMs, endMs, write) : undefined
  const isTimeGiven = kind === 'weekly' ? isWeeklyHours(weekly) : problem === undefined && Number.isFinite(endMs)
  const submit = () => {
    if (!place) return
    const time = kind === 'weekly' ? { weekly } : { to: new Date(endMs).toISOString() }
    const start = from === '' ? {} : { from: new Date(startMs).toISOString() }
    const only = rules.length === 0 ? {} : { rules }
    create.mutate({ input: { body: { place, reason: reason.trim(), ...only, ...start, ...time } } })
  }
  return (
    <DialogForm
      verb="Silence"
      canSubmit={place !== undefined && reason.trim() !== '' && isTimeGiven}
      isBusy={create.isPending}
      error={create.error}
      onSubmit={submit}
      onCancel={onClose}
    >
      {intro}
      <Text fz="sm" c="dimmed">
        No incidents open and no notifications are sent during a silence. Remaining problems open incidents when it
        ends.
      </Text>
      <TextInput
        label="Reason"
        placeholder="Planned maintenance"
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        maxLength={500}
        autoComplete="off"
        data-autofocus
      />
      {write && (
        <SegmentedControl
          aria-label="Time"
          data={[
            { value: 'once', label: 'Once' },
            { value: 'weekly', label: 'Every week' },
          ]}
          value={kind}
          onChange={setKind}
        />
      )}
      {kind === 'weekly' ? (
        <Stack gap={4}>
          <WeeklyField label="Starts on" value={weekly} onChange={setWeekly} />
          <Text fz="xs" c="dimmed">
            In the time zone of each location.
          </Text>
        </Stack>
      ) : (
        <>
          <Select
            label="Duration"
            data={lengthChoices.filter(
              ({ value }) => write || value === 'time' || Number(value) * hourMs <= maxOperatorSilenceMs,
            )}
            value={length}
            onChange={(value) => value && setLength(value)}
            allowDeselect={false}
          />
          {length === 'time' && (
            <TextInput
              type="datetime-local"
              label="Until"
              value={until}
              error={until !== '' && problem}
              onChange={(event) => setUntil(event.currentTarget.value)}
            />
          )}
        </>
      )}
      <TextInput
        type="datetime-local"
        label="Starts"
        description="Optional. Your local time. Starts now if empty."
        value={from}
        error={from !== '' && length !== 'time' && problem}
        onChange={(event) => setFrom(event.currentTarget.value)}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
      />
      <MultiSelect
        label="Only these rules"
        description={rules.length === 0 ? 'All rules except credentials, certificate and notifications.' : undefined}
        data={ruleChoices.filter(({ value }) => manage || !isSecurityRule(value))}
        value={rules}
        onChange={(values) => setRules(values as RuleId[])}
        searchable
        maxDropdownHeight={220}
        nothingFoundMessage="No matches"
        inputWrapperOrder={['label', 'input', 'description', 'error']}
      />
    </DialogForm>
  )
}

/** More than 24 hours needs Write. */
function endProblem(startMs: number, endMs: number, mayWrite: boolean): string | undefined {
  if (!(endMs > Date.now()) || !(endMs > startMs)) return 'End must be after start and in the future.'
  if (!mayWrite && endMs - startMs > maxOperatorSilenceMs)
    return 'Maximum is 24 hours. Ask an admin for a longer silence.'
  return undefined
}

// Sets an incident aside for a time, or until its cause ends. [contract 10.states]

import { Radio, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { dayMs, hourMs } from '../../../../contract/durations.ts'
import { maxSnoozeDays } from '../../../../contract/incidents/limits.ts'
import { capitalised } from '../../../../contract/words.ts'
import { useWrite } from '../../../api.ts'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'
import { shortTime } from '../../../parts/text/time.tsx'
import { isSnoozed, snoozeText } from '../incident.ts'
import type { IncidentFormProps } from './incident-tasks.ts'

const choices = ['hour', 'hours', 'morning', 'week', 'cleared', 'time'] as const
type Choice = (typeof choices)[number]

/** Every choice says when it ends. */
function choiceLabel(choice: Choice): string {
  if (choice === 'time') return 'Custom time'
  if (choice === 'cleared') return capitalised(snoozeText(choice))
  const end = shortTime(endMsOf(choice))
  if (choice === 'morning') return `Until ${end}`
  return `${{ hour: '1 hour', hours: '4 hours', week: '7 days' }[choice]}, until ${end}`
}

export function SnoozeForm({ incident, onClose }: IncidentFormProps) {
  const [choice, setChoice] = useState<Choice | 'wake'>('hours')
  const [time, setTime] = useState('')
  const isAsleep = isSnoozed(incident, Date.now())
  const snooze = useWrite('incidentsSnooze', {
    quiet: true,
    successText: () => (choice === 'wake' ? 'Snooze ended' : 'Incident snoozed'),
    onDone: onClose,
  })
  const problem = choice === 'time' ? timeProblem(time) : undefined
  return (
    <DialogForm
      verb={choice === 'wake' ? 'End snooze' : 'Snooze'}
      canSubmit={problem === undefined}
      isBusy={snooze.isPending}
      error={snooze.error}
      onSubmit={() => snooze.mutate({ input: { id: incident.id, body: { until: untilOf(choice, time) } } })}
      onCancel={onClose}
    >
      <Text fz="sm">
        Hides <b>{incident.title}</b> from the list of open incidents. Notifications continue.
        {isAsleep && incident.snoozedUntil && ` Snoozed ${snoozeText(incident.snoozedUntil)}.`}
      </Text>
      <Radio.Group label="Snooze for" value={choice} onChange={(value) => setChoice(value as Choice | 'wake')}>
        <Stack gap="xs" mt="xs">
          {isAsleep && <Radio value="wake" label="End the snooze now" />}
          {choices.map((value) => (
            <Radio
              key={value}
              value={value}
              label={choiceLabel(value)}
              data-autofocus={value === choice || undefined}
            />
          ))}
        </Stack>
      </Radio.Group>
      {choice === 'time' && (
        <TextInput
          type="datetime-local"
          label="Until"
          value={time}
          onChange={(event) => setTime(event.currentTarget.value)}
          error={time !== '' && problem}
        />
      )}
    </DialogForm>
  )
}

function timeProblem(time: string): string | undefined {
  const ms = new Date(time).getTime() - Date.now()
  if (!(ms > 0)) return 'Choose a time in the future.'
  return ms > maxSnoozeDays * dayMs ? `Choose a time within ${maxSnoozeDays} days.` : undefined
}

function untilOf(choice: Choice | 'wake', time: string): string | null {
  if (choice === 'wake') return null
  if (choice === 'cleared') return choice
  return new Date(choice === 'time' ? time : endMsOf(choice)).toISOString()
}

function endMsOf(choice: 'hour' | 'hours' | 'morning' | 'week'): number {
  if (choice === 'morning') return nextMorningMs(Date.now())
  return Date.now() + { hour: hourMs, hours: 4 * hourMs, week: 7 * dayMs }[choice]
}

/** The next 08:00 that is at least two hours away: at three at night, people mean the same day. */
function nextMorningMs(now: number): number {
  const morning = new Date(now)
  morning.setHours(8, 0, 0, 0)
  if (morning.getTime() < now + 2 * hourMs) morning.setDate(morning.getDate() + 1)
  return morning.getTime()
}

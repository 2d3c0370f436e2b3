// Chooses until when incidents are set aside. Every choice says when it ends. [contract 10.states]

import { Radio, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { dayMs, hourMs } from '../../../../contract/durations.ts'
import { maxSnoozeDays } from '../../../../contract/incidents/limits.ts'
import { capitalised } from '../../../../contract/words.ts'
import { shortTime } from '../../../parts/text/time.tsx'
import { snoozeText } from '../incident.ts'

const choices = ['hour', 'hours', 'morning', 'week', 'cleared', 'time'] as const
type Choice = (typeof choices)[number]

function choiceLabel(choice: Choice): string {
  if (choice === 'time') return 'Custom time'
  if (choice === 'cleared') return capitalised(snoozeText(choice))
  const end = shortTime(endMsOf(choice))
  if (choice === 'morning') return `Until ${end}`
  return `${{ hour: '1 hour', hours: '4 hours', week: '7 days' }[choice]}, until ${end}`
}

interface ChosenSnooze {
  readonly choice: Choice | 'wake'
  readonly setChoice: (choice: Choice | 'wake') => void
  readonly time: string
  readonly setTime: (time: string) => void
  /** Says what is wrong with the chosen time. */
  readonly problem: string | undefined
  /** The time as requests have it; null ends the snooze. */
  readonly until: () => string | null
}

export function useSnoozeChoice(): ChosenSnooze {
  const [choice, setChoice] = useState<Choice | 'wake'>('hours')
  const [time, setTime] = useState('')
  const problem = choice === 'time' ? timeProblem(time) : undefined
  return { choice, setChoice, time, setTime, problem, until: () => untilOf(choice, time) }
}

export const SnoozeChoice = (props: ChosenSnooze & { readonly isAsleep: boolean }) => {
  const { choice, setChoice, time, setTime, problem, isAsleep } = props
  return (
    <>
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
    </>
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

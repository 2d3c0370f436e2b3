// The field for the expiry of an API key: a number of days, a date, or never.
import { Group, Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { dayMs } from '../../../../contract/durations.ts'

export type Lifetime = 'never' | '30' | '90' | '365' | 'date'

const labels: Readonly<Record<Lifetime, string>> = {
  never: 'Never',
  '30': 'In 30 days',
  '90': 'In 90 days',
  '365': 'In 365 days',
  date: 'On a date',
}

/** Returns the end of that day in the viewer's zone, in milliseconds. */
const endOfDay = (date: string): number => new Date(`${date}T23:59:59`).getTime()

/** `isValid` is false until a date is chosen that the server accepts; `expiresAt` returns undefined for a key that does not expire. */
export function useExpiry(first: Lifetime, maxDays = Number.POSITIVE_INFINITY) {
  const [lifetime, setLifetime] = useState(first)
  const [date, setDate] = useState('')
  const endMs = endOfDay(date)
  const isChosen = lifetime === 'date' && date !== ''
  const isPast = isChosen && !(endMs > Date.now())
  const isTooLate = isChosen && endMs > Date.now() + maxDays * dayMs
  const expiresAt = (): string | undefined => {
    if (lifetime === 'never') return undefined
    return new Date(lifetime === 'date' ? endMs : Date.now() + Number(lifetime) * dayMs).toISOString()
  }
  return {
    ...{ lifetime, setLifetime, date, setDate, isPast, isTooLate, maxDays, expiresAt },
    isValid: lifetime !== 'date' || (date !== '' && !isPast && !isTooLate),
  }
}

interface ExpiryFieldProps {
  readonly expiry: ReturnType<typeof useExpiry>
  readonly lifetimes: readonly Lifetime[]
}

export const ExpiryField = ({ expiry, lifetimes }: ExpiryFieldProps) => (
  <Group gap="sm" align="flex-start" grow>
    <Select
      label="Expires"
      data={lifetimes.map((value) => ({ value, label: labels[value] }))}
      value={expiry.lifetime}
      onChange={(value) => value && expiry.setLifetime(value)}
      allowDeselect={false}
    />
    {expiry.lifetime === 'date' && (
      <TextInput
        type="date"
        label="Last day"
        value={expiry.date}
        error={
          (expiry.isPast && 'Choose today or a later date.') ||
          (expiry.isTooLate && `Choose a date within ${expiry.maxDays} days.`)
        }
        onChange={(event) => expiry.setDate(event.currentTarget.value)}
      />
    )}
  </Group>
)

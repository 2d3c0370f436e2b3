// Creates an API key in a form: name, access and expiry.

import { Checkbox, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { dayMs } from '../../../contract/durations.ts'
import { maxNameLength } from '../../../contract/shape.ts'
import { useWrite } from '../../api.ts'
import { DialogForm } from '../../parts/dialog/dialog-form.tsx'
import type { CreatedKey } from './new-key-display.tsx'

interface NewKeyFormProps {
  readonly onCancel: () => void
  readonly onCreated: (created: CreatedKey) => void
}

type Lifetime = 'never' | '30' | '90' | 'date'
const lifetimes: readonly { readonly value: Lifetime; readonly label: string }[] = [
  { value: 'never', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: 'date', label: 'On a date' },
]

/** Returns the end of that day in the viewer's zone, in milliseconds. */
const endOfDay = (date: string): number => new Date(`${date}T23:59:59`).getTime()

export function NewKeyForm({ onCancel, onCreated }: NewKeyFormProps) {
  const [name, setName] = useState('')
  const [reads, setReads] = useState(true)
  const [writes, setWrites] = useState(false)
  const [manages, setManages] = useState(false)
  const [lifetime, setLifetime] = useState<Lifetime>('never')
  const [date, setDate] = useState('')
  const create = useWrite('keysCreate', { onDone: onCreated, quiet: true })
  const isPast = lifetime === 'date' && date !== '' && !(endOfDay(date) > Date.now())
  const isReady = name.trim() !== '' && (reads || writes) && !(lifetime === 'date' && (date === '' || isPast))
  const submit = () => {
    const expiresAtMs = lifetime === 'date' ? endOfDay(date) : Date.now() + Number(lifetime) * dayMs
    const body = {
      name: name.trim(),
      scopes: [...(reads ? (['read'] as const) : []), ...(writes ? (['write'] as const) : [])],
      manage: manages,
      ...(lifetime !== 'never' && { expiresAt: new Date(expiresAtMs).toISOString() }),
    }
    create.mutate({ input: { body } })
  }
  return (
    <DialogForm
      verb="Create key"
      canSubmit={isReady}
      isBusy={create.isPending}
      error={create.error}
      onSubmit={submit}
      onCancel={onCancel}
    >
      <TextInput
        label="Key name"
        description="Shown in the audit log."
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={maxNameLength}
        autoComplete="off"
        data-autofocus
      />
      {/* All three are offered, because only a key with all three scopes can open this form. [contract 3.6] */}
      <Stack component="fieldset" gap="xs" p={0} m={0} bd={0}>
        <Text component="legend" fz="sm" fw={600} mb={6} p={0}>
          Access
        </Text>
        <Checkbox
          label="Read"
          description="See rooms, devices, sensors and the audit log. Required to sign in."
          checked={reads}
          onChange={(event) => setReads(event.currentTarget.checked)}
        />
        <Checkbox
          label="Write"
          description="Change rooms, sites and settings, and restart devices."
          checked={writes || manages}
          disabled={manages}
          onChange={(event) => setWrites(event.currentTarget.checked)}
        />
        <Checkbox
          label="Manage"
          description="Create and revoke keys, and change users. Requires Write."
          checked={manages}
          onChange={(event) => {
            setManages(event.currentTarget.checked)
            if (event.currentTarget.checked) setWrites(true)
          }}
        />
      </Stack>
      <Group gap="sm" align="flex-start" grow>
        <Select
          label="Expires"
          data={[...lifetimes]}
          value={lifetime}
          onChange={(value) => setLifetime((value ?? 'never') as Lifetime)}
          allowDeselect={false}
        />
        {lifetime === 'date' && (
          <TextInput
            type="date"
            label="Last day"
            value={date}
            error={isPast && 'Choose today or a later date.'}
            onChange={(event) => setDate(event.currentTarget.value)}
          />
        )}
      </Group>
    </DialogForm>
  )
}

// Creates an API key in a form: name, access and expiry.

import { Checkbox, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { maxNameLength } from '../../../contract/shape.ts'
import { useWrite } from '../../api.ts'
import { ExpiryField, useExpiry } from '../../domain/key/expiry-field.tsx'
import type { CreatedKey } from '../../domain/key/new-key-display.tsx'
import { DialogForm } from '../../parts/dialog/dialog-form.tsx'

interface NewKeyFormProps {
  readonly onCancel: () => void
  readonly onCreated: (created: CreatedKey) => void
}

export function NewKeyForm({ onCancel, onCreated }: NewKeyFormProps) {
  const [name, setName] = useState('')
  const [reads, setReads] = useState(true)
  const [writes, setWrites] = useState(false)
  const [manages, setManages] = useState(false)
  const expiry = useExpiry('never')
  const create = useWrite('keysCreate', { onDone: onCreated, quiet: true })
  const isReady = name.trim() !== '' && (reads || writes) && expiry.isValid
  const submit = () => {
    const expiresAt = expiry.expiresAt()
    const body = {
      name: name.trim(),
      scopes: [...(reads ? (['read'] as const) : []), ...(writes ? (['write'] as const) : [])],
      manage: manages,
      ...(expiresAt !== undefined && { expiresAt }),
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
      <ExpiryField expiry={expiry} lifetimes={['never', '30', '90', 'date']} />
    </DialogForm>
  )
}

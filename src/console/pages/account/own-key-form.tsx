// Creates a personal API key in a form: name, access and expiry. The key can do nothing that its person cannot. [contract 11.local]
import { Radio, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { maxPersonalKeyDays } from '../../../contract/people/me.ts'
import { maxNameLength } from '../../../contract/shape.ts'
import { useWrite } from '../../api.ts'
import { ExpiryField, useExpiry } from '../../domain/people/key/expiry-field.tsx'
import type { CreatedKey } from '../../domain/people/key/new-key-display.tsx'
import { DialogForm } from '../../parts/dialog/dialog-form.tsx'
import { usePermissions } from '../../session.ts'

interface OwnKeyFormProps {
  readonly onCancel: () => void
  readonly onCreated: (created: CreatedKey) => void
}

const accessNames = { read: 'Read', operate: 'Read and operate', write: 'Read and write' } as const
const accessTexts = {
  read: 'See what you see.',
  operate: 'Also restart devices, send messages, collect logs and write notes.',
  write: 'Also change rooms, locations and settings, where your role allows it.',
} as const
type Access = keyof typeof accessNames

export function OwnKeyForm({ onCancel, onCreated }: OwnKeyFormProps) {
  const may = usePermissions()
  const [name, setName] = useState('')
  const [access, setAccess] = useState<Access>('read')
  const expiry = useExpiry('90', maxPersonalKeyDays)
  const create = useWrite('myKeysCreate', { onDone: onCreated, quiet: true })
  const submit = () => {
    const expiresAt = expiry.expiresAt()
    if (expiresAt === undefined) return
    const scopes = access === 'read' ? (['read'] as const) : (['read', access] as const)
    create.mutate({ input: { body: { name: name.trim(), scopes: [...scopes], expiresAt } } })
  }
  return (
    <DialogForm
      verb="Create key"
      canSubmit={name.trim() !== '' && expiry.isValid}
      isBusy={create.isPending}
      error={create.error}
      onSubmit={submit}
      onCancel={onCancel}
    >
      <TextInput
        label="Key name"
        description="For example the script that uses the key."
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={maxNameLength}
        autoComplete="off"
        data-autofocus
      />
      <Stack component="fieldset" gap="xs" p={0} m={0} bd={0}>
        <Text component="legend" fz="sm" fw={600} mb={6} p={0}>
          Access
        </Text>
        {(['read', 'operate', 'write'] as const)
          .filter((choice) => may[choice])
          .map((choice) => (
            <Radio
              key={choice}
              name="access"
              label={accessNames[choice]}
              description={accessTexts[choice]}
              checked={access === choice}
              onChange={() => setAccess(choice)}
            />
          ))}
      </Stack>
      <ExpiryField expiry={expiry} lifetimes={['30', '90', '365', 'date']} />
    </DialogForm>
  )
}

// The form of a user: address, role, and the regions that an admin looks after.
import { MultiSelect, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { useId, useState } from 'react'
import type { Static } from 'typebox'
import type { Region } from '../../../contract/regions.ts'
import type { User } from '../../../contract/users.ts'
import { useWrite } from '../../api.ts'
import { useBaseline } from '../../parts/dialog/concurrent-change.ts'
import { DialogForm } from '../../parts/dialog/dialog-form.tsx'

export type UserRecord = Static<typeof User>

interface FormProps {
  readonly regions: readonly Static<typeof Region>[]
  readonly onClose: () => void
}

type Sent = Omit<UserRecord, 'id'>

/** As the server takes it. */
const address = /^[^@\s]+@[^@\s]+$/

export function NewUser({ regions, onClose }: FormProps) {
  const create = useWrite('usersCreate', {
    successText: (made) => `${made.email} was added.`,
    onDone: onClose,
    quiet: true,
  })
  return (
    <UserForm
      verb="Create user"
      before={{ email: '', role: 'admin', regionIds: [] }}
      regions={regions}
      isBusy={create.isPending}
      error={create.error}
      onSubmit={(body) => create.mutate({ input: { body } })}
      onClose={onClose}
    />
  )
}

/** Writes only over the version that the form began with. [contract 7.11] */
export function EditUser({ id, regions, onClose }: FormProps & { readonly id: string }) {
  const { seen, reload } = useBaseline('usersGet', { id })
  const update = useWrite('usersUpdate', { successText: 'The user was changed.', onDone: onClose, quiet: true })
  return (
    <UserForm
      key={seen.etag}
      verb="Save user"
      before={seen.body}
      regions={regions}
      isBusy={update.isPending}
      error={update.error}
      onSubmit={(body) => update.mutate({ input: { id, body }, ifMatch: seen.etag })}
      onClose={onClose}
      onReload={() => reload(update.reset)}
    />
  )
}

interface UserFormProps extends FormProps {
  readonly verb: string
  readonly before: Sent
  readonly isBusy: boolean
  readonly error: unknown
  readonly onSubmit: (body: Sent) => void
  readonly onReload?: () => void
}

function UserForm({ verb, before, regions, isBusy, error, onSubmit, onClose, onReload }: UserFormProps) {
  const [email, setEmail] = useState(before.email)
  const [role, setRole] = useState(before.role)
  const [chosen, setChosen] = useState(before.regionIds.map(String))
  const [hasLeft, setLeft] = useState(false)
  const roleLabel = useId()
  const isAddress = address.test(email.trim())
  const regionIds = role === 'owner' ? [] : chosen.map(Number)
  return (
    <DialogForm
      verb={verb}
      canSubmit={isAddress}
      isBusy={isBusy}
      error={error}
      onSubmit={() => onSubmit({ email: email.trim(), role, regionIds })}
      onCancel={onClose}
      {...(onReload && { onReload })}
    >
      <TextInput
        type="email"
        label="E-mail address"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        onBlur={() => setLeft(true)}
        description={isAddress ? undefined : 'Such as ada@example.org.'}
        error={
          hasLeft &&
          email.trim() !== '' &&
          !isAddress &&
          'That is not an e-mail address yet: it needs a name, an @ and a domain.'
        }
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        maxLength={254}
        autoComplete="off"
        data-autofocus
      />
      <Stack gap={4}>
        <Text id={roleLabel} fz="sm" fw={600}>
          Role
        </Text>
        <SegmentedControl
          aria-labelledby={roleLabel}
          data={[
            { value: 'admin', label: 'Admin' },
            { value: 'owner', label: 'Owner' },
          ]}
          value={role}
          onChange={(value) => setRole(value as UserRecord['role'])}
        />
        <Text fz="xs" c="dimmed">
          {role === 'owner' ? 'An owner looks after everything.' : 'An admin looks after the regions below.'}
        </Text>
      </Stack>
      {role === 'admin' && (
        <MultiSelect
          label="Regions"
          placeholder={chosen.length === 0 ? 'None chosen' : undefined}
          data={regions.map(({ id, name }) => ({ value: String(id), label: name }))}
          value={chosen}
          onChange={setChosen}
          searchable
          nothingFoundMessage="No region has that in its name"
          maxDropdownHeight={220}
        />
      )}
    </DialogForm>
  )
}

// Creates or edits a user in a form: e-mail address, role and regions.
import { MultiSelect, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { useId, useState } from 'react'
import type { Static } from 'typebox'
import type { User } from '../../../contract/people/users.ts'
import type { Region } from '../../../contract/regions.ts'
import { useWrite } from '../../api.ts'
import { useBaseline } from '../../parts/dialog/concurrent-change.ts'
import { DialogForm } from '../../parts/dialog/dialog-form.tsx'

export type UserRecord = Static<typeof User>

interface FormProps {
  readonly regions: readonly Static<typeof Region>[]
  readonly onClose: () => void
}

type UserFields = Pick<UserRecord, 'email' | 'role' | 'regionIds'>

/** The server accepts the same addresses. */
const emailPattern = /^[^@\s]+@[^@\s]+$/

export function NewUser({ regions, onClose }: FormProps) {
  const create = useWrite('usersCreate', {
    successText: (created) => `${created.email} added`,
    onDone: onClose,
    quiet: true,
  })
  return (
    <UserForm
      verb="Create user"
      initial={{ email: '', role: 'admin', regionIds: [] }}
      regions={regions}
      isBusy={create.isPending}
      error={create.error}
      onSubmit={(body) => create.mutate({ input: { body } })}
      onClose={onClose}
    />
  )
}

/** Overwrites only the version that the form opened with. [contract 7.11] */
export function EditUser({ id, regions, onClose }: FormProps & { readonly id: string }) {
  const { seen, reload } = useBaseline('usersGet', { id })
  const update = useWrite('usersUpdate', { successText: 'User saved', onDone: onClose, quiet: true })
  return (
    <UserForm
      key={seen.etag}
      verb="Save user"
      initial={seen.body}
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
  readonly initial: UserFields
  readonly isBusy: boolean
  readonly error: unknown
  readonly onSubmit: (body: UserFields) => void
  readonly onReload?: () => void
}

function UserForm({ verb, initial, regions, isBusy, error, onSubmit, onClose, onReload }: UserFormProps) {
  const [email, setEmail] = useState(initial.email)
  const [role, setRole] = useState(initial.role)
  const [regionValues, setRegionValues] = useState(initial.regionIds.map(String))
  const [wasBlurred, setBlurred] = useState(false)
  const roleLabel = useId()
  const isEmail = emailPattern.test(email.trim())
  const regionIds = role === 'owner' ? [] : regionValues.map(Number)
  return (
    <DialogForm
      verb={verb}
      canSubmit={isEmail}
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
        onBlur={() => setBlurred(true)}
        description={isEmail ? undefined : 'For example name@example.org'}
        error={wasBlurred && email.trim() !== '' && !isEmail && 'Enter a valid e-mail address.'}
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
          {role === 'owner' ? 'Responsible for all regions.' : 'Responsible for the regions below.'}
        </Text>
      </Stack>
      {role === 'admin' && (
        <MultiSelect
          label="Regions"
          placeholder={regionValues.length === 0 ? 'Select regions' : undefined}
          data={regions.map(({ id, name }) => ({ value: String(id), label: name }))}
          value={regionValues}
          onChange={setRegionValues}
          searchable
          nothingFoundMessage="No matches"
          maxDropdownHeight={220}
        />
      )}
    </DialogForm>
  )
}

// Invites or edits a person in a form: e-mail address, name, role and regions. [contract 11.user]
import { Select, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { type Role, roles } from '../../../../contract/people/permissions.ts'
import { useWrite } from '../../../api.ts'
import { RegionChoiceField } from '../../../domain/fleet/site/region-choice.tsx'
import type { ListedRegion } from '../../../domain/fleet/site/sites.ts'
import { isEmailAddress } from '../../../domain/people/person/email-address.ts'
import type { Person } from '../../../domain/people/person/person.ts'
import { roleNames, roleTexts } from '../../../domain/people/person/roles.ts'
import { useBaseline } from '../../../parts/dialog/concurrent-change.ts'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'

interface FormProps {
  readonly regions: readonly ListedRegion[]
  readonly onClose: () => void
}

type PersonFields = Pick<Person, 'email' | 'name' | 'role' | 'allRegions' | 'regionIds'>

const newPerson: PersonFields = { email: '', role: 'operator', allRegions: false, regionIds: [] }

/** Creates the person; the caller then makes the link. */
export function NewPersonForm({ regions, onClose, onCreated }: FormProps & { onCreated: (person: Person) => void }) {
  const create = useWrite('usersCreate', { onDone: onCreated, quiet: true })
  return (
    <PersonForm
      verb="Create sign-in link"
      initial={newPerson}
      regions={regions}
      isBusy={create.isPending}
      error={create.error}
      onSubmit={({ name, ...body }) =>
        create.mutate({ input: { body: { ...body, ...(name !== undefined && { name }) } } })
      }
      onClose={onClose}
    />
  )
}

/** Overwrites only the version that the form opened with. [contract 7.11] */
export function EditPersonForm({ id, regions, onClose }: FormProps & { readonly id: string }) {
  const { seen, reload } = useBaseline('usersGet', { id })
  const update = useWrite('usersUpdate', { successText: 'Person saved', onDone: onClose, quiet: true })
  return (
    <PersonForm
      key={seen.etag}
      verb="Save"
      initial={seen.body}
      regions={regions}
      isBusy={update.isPending}
      error={update.error}
      onSubmit={({ name, ...body }) =>
        update.mutate({ input: { id, body: { ...body, name: name ?? null } }, ifMatch: seen.etag })
      }
      onClose={onClose}
      onReload={() => reload(update.reset)}
    />
  )
}

interface PersonFormProps extends FormProps {
  readonly verb: string
  readonly initial: PersonFields
  readonly isBusy: boolean
  readonly error: unknown
  readonly onSubmit: (body: PersonFields) => void
  readonly onReload?: () => void
}

function PersonForm({ verb, initial, regions, isBusy, error, onSubmit, onClose, onReload }: PersonFormProps) {
  const [email, setEmail] = useState(initial.email)
  const [name, setName] = useState(initial.name ?? '')
  const [role, setRole] = useState<Role>(initial.role)
  const [choice, setChoice] = useState({ allRegions: initial.allRegions, regionIds: initial.regionIds })
  const [wasBlurred, setBlurred] = useState(false)
  const isEmail = isEmailAddress(email)
  const submit = () =>
    onSubmit({
      email: email.trim(),
      ...(name.trim() !== '' && { name: name.trim() }),
      role,
      // Owners see everything. Their regions stay as they were, and count again when they are demoted.
      ...regionsToSend(choice),
    })
  return (
    <DialogForm
      verb={verb}
      canSubmit={isEmail}
      isBusy={isBusy}
      error={error}
      onSubmit={submit}
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
      <TextInput
        label="Name"
        description="Optional."
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        maxLength={100}
        autoComplete="off"
      />
      <Stack gap={4}>
        <Select
          label="Role"
          data={roles.map((value) => ({ value, label: roleNames[value] }))}
          value={role}
          onChange={(value) => value && setRole(value)}
          allowDeselect={false}
        />
        <Text fz="xs" c="dimmed">
          {roleTexts[role]}
        </Text>
      </Stack>
      {role !== 'owner' && (
        <RegionChoiceField
          value={choice}
          onChange={(next) => setChoice({ ...next, regionIds: [...next.regionIds] })}
          regions={regions}
          emptyText="Without a region, this person sees nothing."
        />
      )}
    </DialogForm>
  )
}

/** The chosen regions of a person who sees all of them are not sent. */
const regionsToSend = ({ allRegions, regionIds }: Pick<PersonFields, 'allRegions' | 'regionIds'>) => ({
  allRegions,
  regionIds: allRegions ? [] : regionIds,
})

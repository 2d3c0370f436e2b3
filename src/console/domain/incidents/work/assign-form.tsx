// Gives an incident to a person, or takes it from the person who has it. [contract 10.states]
import { Select } from '@mantine/core'
import { useState } from 'react'
import { useBody, useWrite } from '../../../api.ts'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'
import { useSession } from '../../../session.ts'
import { personName } from '../../people/person/person.ts'
import type { IncidentFormProps } from './incident-tasks.ts'

export function AssignForm({ incident: { id, assignee }, onClose }: IncidentFormProps) {
  const { users } = useBody('usersList')
  const ownId = useSession().user?.id
  const [userId, setUserId] = useState<string | null>(assignee?.id ?? ownId ?? null)
  const assign = useWrite('incidentsAssign', {
    quiet: true,
    successText: () => (userId === null ? 'Incident unassigned' : 'Incident assigned'),
    onDone: onClose,
  })
  const people = users.filter(({ state }) => state !== 'DISABLED')
  return (
    <DialogForm
      verb="Save"
      canSubmit={userId !== (assignee?.id ?? null)}
      isBusy={assign.isPending}
      error={assign.error}
      onSubmit={() => assign.mutate({ input: { id, body: { userId } } })}
      onCancel={onClose}
    >
      <Select
        label="Assign to"
        placeholder="No one"
        description={people.length === 0 ? 'Invite people under Settings to assign incidents to them.' : undefined}
        data={people.map((user) => ({
          value: user.id,
          label: user.id === ownId ? `${personName(user)} (you)` : personName(user),
        }))}
        value={userId}
        onChange={setUserId}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'Assign to no one' }}
        nothingFoundMessage="No matches"
      />
    </DialogForm>
  )
}

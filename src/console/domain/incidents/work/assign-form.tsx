// Gives an incident to a person, or takes it from the person who has it. [contract 10.states]
import { useState } from 'react'
import { useBody, useWrite } from '../../../api.ts'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'
import { useSession } from '../../../session.ts'
import { AssigneeSelect, canWorkOn } from './assignee.tsx'
import type { IncidentFormProps } from './incident-tasks.ts'

export function AssignForm({ incident, onClose }: IncidentFormProps) {
  const { id, assignee } = incident
  const { users } = useBody('usersList')
  const ownId = useSession().user?.id
  const people = users.filter((user) => user.id === assignee?.id || canWorkOn(user, [incident]))
  const [userId, setUserId] = useState(assignee?.id ?? people.find((user) => user.id === ownId)?.id ?? null)
  const assign = useWrite('incidentsAssign', {
    quiet: true,
    successText: () => (userId === null ? 'Incident unassigned' : 'Incident assigned'),
    onDone: onClose,
  })
  return (
    <DialogForm
      verb="Save"
      canSubmit={userId !== (assignee?.id ?? null)}
      isBusy={assign.isPending}
      error={assign.error}
      onSubmit={() => assign.mutate({ input: { id, body: { userId } } })}
      onCancel={onClose}
    >
      <AssigneeSelect people={people} userId={userId} onChange={setUserId} />
    </DialogForm>
  )
}

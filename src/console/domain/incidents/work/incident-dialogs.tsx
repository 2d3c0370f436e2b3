// Holds the dialogs of the tasks on an incident mounted, so that the focus returns to the button that opened them.
import { Modal } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useCallback, useState } from 'react'
import { useWrite } from '../../../api.ts'
import { LoadingBoundary } from '../../../parts/page/page.tsx'
import type { ListedIncident } from '../incident.ts'
import { AssignForm } from './assign-form.tsx'
import type { IncidentTask, StartIncidentTask } from './incident-tasks.ts'
import { NoteForm } from './note-form.tsx'
import { ResolveForm } from './resolve-form.tsx'
import { RestartForm } from './restart-form.tsx'
import { SnoozeForm } from './snooze-form.tsx'

interface IncidentTasks {
  readonly task: IncidentTask
  readonly incident: ListedIncident | undefined
  readonly opened: boolean
  readonly close: () => void
  readonly start: StartIncidentTask
}

/** Starting a task opens its dialog; to acknowledge, and to withdraw that, needs none. */
export function useIncidentTasks(): IncidentTasks {
  const [task, setTask] = useState<IncidentTask>('note')
  const [incident, setIncident] = useState<ListedIncident>()
  const [opened, { open, close }] = useDisclosure(false)
  const { mutate: acknowledge } = useWrite('incidentsAcknowledge', {
    successText: ({ state }) => (state === 'ACKNOWLEDGED' ? 'Incident acknowledged' : 'Incident unacknowledged'),
  })
  const start = useCallback<StartIncidentTask>(
    (next, of) => {
      if (next === 'acknowledge' || next === 'unacknowledge')
        return acknowledge({ input: { id: of.id, body: { acknowledged: next === 'acknowledge' } } })
      setTask(next)
      setIncident(of)
      open()
    },
    [acknowledge, open],
  )
  return { task, incident, opened, close, start }
}

const titles: Readonly<Record<IncidentTask, string>> = {
  restart: 'Restart devices',
  snooze: 'Snooze incident',
  note: 'Add note',
  resolve: 'Resolve incident',
  assign: 'Assign incident',
}
const forms = { restart: RestartForm, snooze: SnoozeForm, note: NoteForm, resolve: ResolveForm, assign: AssignForm }

export function IncidentDialogs({ task, incident, opened, close }: IncidentTasks) {
  const Form = forms[task]
  return (
    <Modal opened={opened} onClose={close} title={titles[task]}>
      <LoadingBoundary>{incident && <Form key={incident.id} incident={incident} onClose={close} />}</LoadingBoundary>
    </Modal>
  )
}

// The buttons on the page of an incident, as far as its state allows them.
import { Button } from '@mantine/core'
import { type IncidentDetails, isOpenIncident, isSnoozed } from '../../domain/incidents/incident.ts'
import { IncidentDialogs, useIncidentTasks } from '../../domain/incidents/work/incident-dialogs.tsx'
import { useCanRestart } from '../../domain/incidents/work/restartable.ts'
import { CheckIcon, ClockIcon, NoteIcon, RebootIcon, UndoIcon, UserIcon } from '../../parts/page/icons.tsx'

export function IncidentButtons({ incident }: { readonly incident: IncidentDetails }) {
  const tasks = useIncidentTasks()
  const isOpen = isOpenIncident(incident)
  const canRestart = useCanRestart({ enabled: isOpen })
  const isNew = incident.state === 'OPEN'
  return (
    <>
      {/* One button with two names keeps the focus when it is pressed. */}
      {isOpen && (
        <Button
          variant={isNew ? 'filled' : 'default'}
          leftSection={isNew ? <CheckIcon /> : <UndoIcon />}
          onClick={() => tasks.start(isNew ? 'acknowledge' : 'unacknowledge', incident)}
        >
          {isNew ? 'Acknowledge' : 'Unacknowledge'}
        </Button>
      )}
      {isOpen && (
        <>
          <Button variant="default" leftSection={<UserIcon />} onClick={() => tasks.start('assign', incident)}>
            Assign
          </Button>
          <Button variant="default" leftSection={<ClockIcon />} onClick={() => tasks.start('snooze', incident)}>
            {isSnoozed(incident, Date.now()) ? 'Change snooze' : 'Snooze'}
          </Button>
        </>
      )}
      {canRestart(incident) && (
        <Button variant="default" leftSection={<RebootIcon />} onClick={() => tasks.start('restart', incident)}>
          Restart
        </Button>
      )}
      <Button variant="default" leftSection={<NoteIcon />} onClick={() => tasks.start('note', incident)}>
        Add note
      </Button>
      {isOpen && (
        <Button variant="default" onClick={() => tasks.start('resolve', incident)}>
          Resolve
        </Button>
      )}
      <IncidentDialogs {...tasks} />
    </>
  )
}

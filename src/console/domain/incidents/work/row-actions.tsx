// The actions of a row of the work list: restart, acknowledge, snooze and note, as buttons or as a menu.
import { ActionIcon, Menu } from '@mantine/core'
import type { ReactNode } from 'react'
import { CheckIcon, ClockIcon, MoreIcon, NoteIcon, RebootIcon, UndoIcon } from '../../../parts/page/icons.tsx'
import { isOpenIncident, type ListedIncident } from '../incident.ts'
import type { StartIncidentTask } from './incident-tasks.ts'
import classes from './work.module.css'

interface RowActionsProps {
  readonly incident: ListedIncident
  readonly start: StartIncidentTask
  /** Whether a device of the incident can be restarted now. */
  readonly canRestart: boolean
  /** Phones have no room for four buttons. */
  readonly isMenu: boolean
}

interface RowAction {
  readonly task: 'restart' | 'acknowledge' | 'unacknowledge' | 'snooze' | 'note'
  readonly name: string
  readonly icon: ReactNode
}

const acknowledge: RowAction = { task: 'acknowledge', name: 'Acknowledge', icon: <CheckIcon /> }
const unacknowledge: RowAction = { task: 'unacknowledge', name: 'Unacknowledge', icon: <UndoIcon /> }
const actionsOf = ({ state }: ListedIncident): readonly RowAction[] => [
  { task: 'restart', name: 'Restart', icon: <RebootIcon /> },
  state === 'ACKNOWLEDGED' ? unacknowledge : acknowledge,
  { task: 'snooze', name: 'Snooze', icon: <ClockIcon /> },
  { task: 'note', name: 'Add note', icon: <NoteIcon /> },
]

/** Acknowledging changes the name of its button and not the button, so that the focus of the keyboard stays there. */
const keyOf = (task: RowAction['task']) => (task === 'unacknowledge' ? 'acknowledge' : task)

/** The actions that make sense in the state of the incident. */
function isOffered(task: RowAction['task'], incident: ListedIncident, canRestart: boolean): boolean {
  if (task === 'restart') return canRestart
  return task === 'note' || isOpenIncident(incident)
}

export function RowActions({ incident, start, canRestart, isMenu }: RowActionsProps) {
  const actions = actionsOf(incident)
  const offered = actions.filter(({ task }) => isOffered(task, incident, canRestart))
  if (isMenu) {
    return (
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" c="dimmed" aria-label={`Actions: ${incident.title}`}>
            <MoreIcon />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {offered.map(({ task, name, icon }) => (
            <Menu.Item key={task} leftSection={icon} onClick={() => start(task, incident)}>
              {name}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    )
  }
  return (
    <div className={classes.actions}>
      {actions.map(({ task, name, icon }) =>
        isOffered(task, incident, canRestart) ? (
          <button
            key={keyOf(task)}
            type="button"
            className={classes.action}
            aria-label={`${name}: ${incident.title}`}
            title={name}
            onClick={() => start(task, incident)}
          >
            {icon}
          </button>
        ) : (
          // The other buttons keep their places.
          <span key={keyOf(task)} className={classes.action} />
        ),
      )}
    </div>
  )
}

// The actions of a row of the work list: a button to acknowledge, and a menu with the others.
import { ActionIcon, Button, Menu } from '@mantine/core'
import type { ReactNode } from 'react'
import { CheckIcon, ClockIcon, MoreIcon, NoteIcon, RebootIcon, UndoIcon, UserIcon } from '../../../parts/page/icons.tsx'
import { isOpenIncident, type ListedIncident } from '../incident.ts'
import type { StartIncidentTask } from './incident-tasks.ts'
import classes from './work.module.css'

interface RowActionsProps {
  readonly incident: ListedIncident
  readonly start: StartIncidentTask
  /** Whether a device of the incident can be restarted now. */
  readonly canRestart: boolean
  /** On a phone everything is in the menu. */
  readonly isMenu: boolean
}

interface RowAction {
  readonly task: Parameters<StartIncidentTask>[0]
  readonly name: string
  readonly icon: ReactNode
}

const acknowledge: RowAction = { task: 'acknowledge', name: 'Acknowledge', icon: <CheckIcon /> }
const unacknowledge: RowAction = { task: 'unacknowledge', name: 'Unacknowledge', icon: <UndoIcon /> }
const note: RowAction = { task: 'note', name: 'Add note', icon: <NoteIcon /> }

export function RowActions({ incident, start, canRestart, isMenu }: RowActionsProps) {
  const isOpen = isOpenIncident(incident)
  const main = incident.state === 'ACKNOWLEDGED' ? unacknowledge : acknowledge
  const others: readonly RowAction[] = [
    ...(isOpen && isMenu ? [main] : []),
    ...(canRestart ? [{ task: 'restart', name: 'Restart', icon: <RebootIcon /> } as const] : []),
    ...(isOpen
      ? ([
          { task: 'assign', name: 'Assign', icon: <UserIcon /> },
          { task: 'snooze', name: 'Snooze', icon: <ClockIcon /> },
        ] as const)
      : []),
    note,
  ]
  return (
    <div className={classes.actions}>
      {isOpen && !isMenu && (
        // One button with two names keeps the focus when it is pressed.
        <Button
          variant="default"
          size="compact-xs"
          aria-label={`${main.name}: ${incident.title}`}
          onClick={() => start(main.task, incident)}
        >
          {main.name}
        </Button>
      )}
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" c="dimmed" aria-label={`Actions: ${incident.title}`}>
            <MoreIcon />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {others.map(({ task, name, icon }) => (
            <Menu.Item key={task} leftSection={icon} onClick={() => start(task, incident)}>
              {name}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </div>
  )
}

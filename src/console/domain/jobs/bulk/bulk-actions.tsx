// The buttons for actions on all selected rows, each with its dialog. Actions that the session does not allow are not there.
import { Button } from '@mantine/core'
import { useState } from 'react'
import type { JobActionType } from '../../../../contract/jobs/job-request.ts'
import { usePermissions } from '../../../session.ts'
import { mayRunAction } from '../job.ts'
import { BulkDialog } from './bulk-dialog.tsx'
import type { BulkTarget } from './bulk-target.ts'

type BulkAction = readonly [type: JobActionType, label: string]

/** Rooms have no Move: it would put the devices of all of them into one room. */
export const roomActions: readonly BulkAction[] = [
  ['ASSIGN_PROFILE', 'Assign profile'],
  ['CONFIG', 'Change settings'],
  ['REBOOT', 'Restart'],
  ['MESSAGE', 'Message'],
]
export const deviceActions: readonly BulkAction[] = [...roomActions, ['MOVE', 'Move']]

interface BulkActionsProps {
  readonly actions: readonly BulkAction[]
  /** "30 devices". */
  readonly subject: string
  /** Computed when a dialog opens; undefined if there are too many rows for one job. */
  readonly targetOf: () => BulkTarget | undefined
  readonly onDone: () => void
}

interface OpenDialog {
  readonly type: JobActionType
  readonly target: BulkTarget | undefined
}

export function BulkActions({ actions, subject, targetOf, onDone }: BulkActionsProps) {
  const permissions = usePermissions()
  const [dialog, setDialog] = useState<OpenDialog | undefined>()
  return (
    <>
      {actions
        .filter(([type]) => mayRunAction(type, permissions))
        .map(([type, label]) => (
          <Button
            key={type}
            variant="subtle"
            size="compact-sm"
            style={{ flex: 'none' }}
            onClick={() => setDialog({ type, target: targetOf() })}
          >
            {label}
          </Button>
        ))}
      {dialog && (
        <BulkDialog
          {...dialog}
          title={`${actions.find(([type]) => type === dialog.type)?.[1]}: ${subject}`}
          onClose={() => setDialog(undefined)}
          onDone={() => {
            setDialog(undefined)
            onDone()
          }}
        />
      )}
    </>
  )
}

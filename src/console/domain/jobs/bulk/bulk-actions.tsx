// The buttons for actions on all selected rows, each with its dialog. Actions that the session does not allow, or that no selected device can do, are not there.
import { Button } from '@mantine/core'
import { useState } from 'react'
import { type JobActionType, jobActions } from '../../../../contract/jobs/action-table.ts'
import { usePermissions } from '../../../session.ts'
import { canHaveProfile, hasAction, type ListedDevice } from '../../fleet/device/device.ts'
import { actionForms } from '../action/action-forms.ts'
import { mayRunAction } from '../job.ts'
import { BulkDialog } from './bulk-dialog.tsx'
import type { BulkTarget } from './bulk-target.ts'

const actionTypes = Object.keys(actionForms) as JobActionType[]
const isOfferedFor = {
  rooms: (type: JobActionType) => jobActions[type].selection?.rows === 'rooms and devices',
  devices: (type: JobActionType) => jobActions[type].selection !== null,
} as const

interface BulkActionsProps {
  readonly rows: keyof typeof isOfferedFor
  /** The devices of the selected rows: an action that none of them can do is not offered. */
  readonly devices: readonly Pick<ListedDevice, 'model' | 'actions' | 'sourceType'>[]
  /** "30 devices in Atlanta". */
  readonly subject: string
  /** Computed when a dialog opens; undefined if there are too many rows for one job. */
  readonly targetOf: () => BulkTarget | undefined
  readonly onDone: () => void
}

interface OpenDialog {
  readonly type: JobActionType
  readonly target: BulkTarget | undefined
}

/** Without devices, the plan says that nothing happens. */
function isAnyAble(type: JobActionType, devices: BulkActionsProps['devices']): boolean {
  const { requires } = jobActions[type]
  return (
    requires === null ||
    devices.length === 0 ||
    devices.some((device) => (requires === 'profile' ? canHaveProfile(device) : hasAction(device, requires)))
  )
}

export function BulkActions({ rows, devices, subject, targetOf, onDone }: BulkActionsProps) {
  const permissions = usePermissions()
  const [dialog, setDialog] = useState<OpenDialog | undefined>()
  return (
    <>
      {actionTypes
        .filter((type) => isOfferedFor[rows](type) && mayRunAction(type, permissions) && isAnyAble(type, devices))
        .map((type) => (
          <Button
            key={type}
            variant="subtle"
            size="compact-sm"
            style={{ flex: 'none' }}
            onClick={() => setDialog({ type, target: targetOf() })}
          >
            {jobActions[type].texts.shortName}
          </Button>
        ))}
      {dialog && (
        <BulkDialog
          {...dialog}
          subject={subject}
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

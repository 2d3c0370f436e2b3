// Goes back to an earlier version of a config, after a look at what that changes.
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useBody, useResponse, useWrite } from '../../api.ts'
import { deviceName } from '../../domain/device/device.ts'
import { refetchIfChanged } from '../../parts/dialog/concurrent-change.ts'
import { ReviewDialog } from '../../parts/settings-form/review-dialog.tsx'
import { settingName } from '../../parts/settings-form/setting-sections.ts'
import { differenceCount } from '../../parts/text/diff-table.tsx'
import { plural } from '../../parts/text/words.ts'
import type { Version } from './config-version-row.tsx'

interface RestoreDialogProps {
  readonly endpointId: string
  readonly version: Version
  readonly onClose: () => void
}

export function RestoreDialog({ endpointId, version, onClose }: RestoreDialogProps) {
  const device = useBody('endpointsGet', { id: endpointId })
  const { etag } = useResponse('endpointsSettings', { id: endpointId })
  const state = useBody('configStateGet', { id: endpointId })
  const [seen, setSeen] = useState(etag)
  const restore = useWrite('configVersionsRestore', {
    quiet: true,
    successText: `Version ${version.version} was restored on ${deviceName(device)}.`,
    onDone: onClose,
  })
  const send = async () => {
    try {
      await restore.mutateAsync({ input: { id: endpointId, n: version.version }, ifMatch: seen })
    } catch (error) {
      await refetchIfChanged(error)
    }
  }
  const fixed = Object.keys(version.config).filter((name) => Object.hasOwn(state.profile, name))
  const count = differenceCount(state.desired, version.config)
  const isStale = seen !== etag && !restore.isPending
  return (
    <ReviewDialog
      opened
      onClose={onClose}
      title={
        fixed.length > 0
          ? `Version ${version.version} cannot be restored on ${deviceName(device)} now`
          : `Restore version ${version.version} on ${deviceName(device)}: ${plural(count, 'setting')} will change`
      }
      before={state.desired}
      after={version.config}
      verb="Restore"
      isBusy={restore.isPending}
      error={restore.error}
      blocked={fixed.length > 0}
      onConfirm={() => void send()}
      onContinue={
        isStale
          ? () => {
              restore.reset()
              setSeen(etag)
            }
          : undefined
      }
    >
      {fixed.length > 0 ? (
        <>
          This version cannot be restored now: it sets {fixed.map(settingName).join(', ')}, which{' '}
          {device.profileId === undefined ? (
            'the profile of the device'
          ) : (
            <Link to="/profiles/$profileId" params={{ profileId: String(device.profileId) }}>
              the profile of the device
            </Link>
          )}{' '}
          fixes. Give the device another profile first, or none.
        </>
      ) : (
        <>
          Passwords of that version come back too, and passwords that were set since then go. They are never shown, so
          they are not in this list.{' '}
          {device.connected
            ? 'The device is connected and gets this at once.'
            : 'The device is offline. It gets this when it comes back.'}
        </>
      )}
    </ReviewDialog>
  )
}

// Restores an earlier config version after a review of the differences.
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { settingName } from '../../../../contract/device/setting-names.ts'
import type { ResponseOf } from '../../../../contract/operation.ts'
import type { Operations } from '../../../../contract/operations.ts'
import { useBody, useWrite } from '../../../api.ts'
import { deviceName } from '../../../domain/fleet/device/device.ts'
import { refetchIfChanged } from '../../../parts/dialog/concurrent-change.ts'
import { ReviewDialog } from '../../../parts/settings-form/review-dialog.tsx'
import { differenceCount } from '../../../parts/text/diff-table.tsx'
import { plural } from '../../../parts/text/words.ts'
import { configEtag } from './config-etag.ts'

interface RestoreDialogProps {
  readonly endpointId: string
  readonly version: ResponseOf<Operations['configVersionsList']>['versions'][number]
  readonly onClose: () => void
}

export function RestoreDialog({ endpointId, version, onClose }: RestoreDialogProps) {
  const device = useBody('endpointsGet', { id: endpointId })
  const state = useBody('configStateGet', { id: endpointId })
  const etag = configEtag(state.version)
  const [seen, setSeen] = useState(etag)
  const restore = useWrite('configVersionsRestore', {
    quiet: true,
    successText: `Version ${version.version} restored on ${deviceName(device)}`,
    onDone: onClose,
  })
  const send = async () => {
    try {
      await restore.mutateAsync({ input: { id: endpointId, n: version.version }, ifMatch: seen })
    } catch (error) {
      await refetchIfChanged(error)
    }
  }
  const lockedNames = Object.keys(version.config).filter((name) => Object.hasOwn(state.profile, name))
  const count = differenceCount(state.desired, version.config)
  const isStale = seen !== etag && !restore.isPending
  return (
    <ReviewDialog
      opened
      onClose={onClose}
      title={
        lockedNames.length > 0
          ? `Version ${version.version} cannot be restored on ${deviceName(device)}`
          : `Restore version ${version.version} on ${deviceName(device)}? ${plural(count, 'setting')} will change`
      }
      before={state.desired}
      after={version.config}
      verb="Restore"
      isBusy={restore.isPending}
      error={restore.error}
      blocked={lockedNames.length > 0}
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
      {lockedNames.length > 0 ? (
        <>
          {lockedNames.map(settingName).join(', ')} {lockedNames.length === 1 ? 'is' : 'are'} locked by{' '}
          {device.profileId === undefined ? (
            'the device profile'
          ) : (
            <Link to="/profiles/$profileId" params={{ profileId: String(device.profileId) }}>
              the device profile
            </Link>
          )}
          . Change or remove the profile first.
        </>
      ) : (
        <>
          Passwords are restored too but are not listed here.{' '}
          {device.connected
            ? 'The device applies this immediately.'
            : 'The device is not connected and applies this when it reconnects.'}
        </>
      )}
    </ReviewDialog>
  )
}
